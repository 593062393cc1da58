//! The few pieces of the protobuf encoding that event files and offline runs are made of. They are written by hand, since half
//! a dozen messages do not pay for a code generator, its runtime and the files that it would read.

/// A message, or the beginning of one. Fields are written in the order of the calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Message {
    bytes: Vec<u8>,
}

/// How the value of a field is laid out.
#[derive(Debug, Clone, Copy)]
enum Layout {
    Varint = 0,
    Bits64 = 1,
    Bytes = 2,
    Bits32 = 5,
}

impl Message {
    /// A message without fields.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a whole number, of any of the types `int32`, `int64`, `bool` and enums.
    pub(crate) fn number(mut self, field: u32, value: u64) -> Self {
        self.key(field, Layout::Varint);
        self.varint(value);
        self
    }

    /// Adds a `double`.
    pub(crate) fn double(mut self, field: u32, value: f64) -> Self {
        self.key(field, Layout::Bits64);
        self.bytes.extend(value.to_le_bytes());
        self
    }

    /// Adds a `float`.
    pub(crate) fn float(mut self, field: u32, value: f32) -> Self {
        self.key(field, Layout::Bits32);
        self.bytes.extend(value.to_le_bytes());
        self
    }

    /// Adds `bytes`, or a `string`.
    pub(crate) fn bytes(mut self, field: u32, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        self.key(field, Layout::Bytes);
        self.varint(value.len() as u64);
        self.bytes.extend(value);
        self
    }

    /// Adds a message.
    pub(crate) fn message(self, field: u32, value: &Message) -> Self {
        self.bytes(field, &value.bytes)
    }

    /// Adds several messages of one repeated field.
    pub(crate) fn messages(self, field: u32, values: &[Message]) -> Self {
        values.iter().fold(self, |message, value| message.message(field, value))
    }

    /// The encoded message.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn key(&mut self, field: u32, layout: Layout) {
        self.varint(u64::from(field) << 3 | layout as u64);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_encoding_guide_come_out() {
        // https://protobuf.dev/programming-guides/encoding: 150 in field 1, "testing" in field 2, the first within field 3.
        let number = Message::new().number(1, 150);
        assert_eq!(number.clone().into_bytes(), [0x08, 0x96, 0x01]);
        let text = Message::new().bytes(2, "testing");
        assert_eq!(text.into_bytes(), [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        let nested = Message::new().message(3, &number);
        assert_eq!(nested.into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        // By hand: 1.5 has the bits 3ff8 0000 0000 0000 and 3fc0 0000; field 16 takes a key of two bytes.
        let floats = Message::new().double(1, 1.5).float(2, 1.5).number(16, 0);
        let expected = [0x09, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0x15, 0, 0, 0xc0, 0x3f, 0x80, 0x01, 0];
        assert_eq!(floats.into_bytes(), expected);
    }
}
