//! The messages of an event file: which fields TensorBoard's `event.proto`, `summary.proto` and `tensor.proto` number how.

use std::io::Cursor;

use unbraid_data::{Error, Result};

use crate::protobuf::Message;

/// The element type of a tensor that holds text.
const DT_STRING: u64 = 7;
/// What a summary of text is counted among.
const DATA_CLASS_TENSOR: u64 = 2;

/// The event that every file begins with.
pub(super) fn version() -> Vec<u8> {
    Message::new().double(1, 0.0).bytes(3, "brain.Event:2").into_bytes()
}

/// An event that shows values after a step.
pub(super) fn summary(step: u64, values: &[Message]) -> Vec<u8> {
    let values = Message::new().messages(1, values);
    Message::new().double(1, step as f64).number(2, step).message(5, &values).into_bytes()
}

/// A number, in the form that all versions of TensorBoard read.
pub(super) fn scalar(tag: &str, value: f64) -> Message {
    Message::new().bytes(1, tag).float(2, value as f32)
}

/// A text, which TensorBoard shows as Markdown.
pub(super) fn text(tag: &str, markdown: &str) -> Message {
    let plugin = Message::new().bytes(1, "text");
    let metadata = Message::new().message(1, &plugin).number(4, DATA_CLASS_TENSOR);
    let one = Message::new().number(1, 1);
    let tensor = Message::new().number(1, DT_STRING).message(2, &Message::new().message(2, &one)).bytes(8, markdown);
    Message::new().bytes(1, tag).message(8, &tensor).message(9, &metadata)
}

/// A picture, given as PNG.
pub(super) fn image(tag: &str, png: &[u8]) -> Result<Message> {
    let reader = png::Decoder::new(Cursor::new(png)).read_info();
    let reader = reader.map_err(|error| Error::new(format!("it is no PNG: {error}")))?;
    let info = reader.info();
    let image = Message::new()
        .number(1, u64::from(info.height))
        .number(2, u64::from(info.width))
        // A palette is one of colours.
        .number(3, if info.color_type == png::ColorType::Indexed { 3 } else { info.color_type.samples() as u64 })
        .bytes(4, png);
    Ok(Message::new().bytes(1, tag).message(4, &image))
}
