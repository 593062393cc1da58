//! Canvases one after another as a GIF file that repeats.

use std::borrow::Cow;
use std::collections::BTreeSet;

use unbraid_data::{Error, Result};

use crate::canvas::Canvas;
use crate::colour::Colour;

/// The frames as a GIF, each shown for `frame_secs`. All frames have the size of the first.
pub fn to_gif(frames: &[Canvas], frame_secs: f64) -> Result<Vec<u8>> {
    let first = frames.first().ok_or_else(|| Error::failure("an animation needs at least one frame"))?;
    let side = |length: usize| {
        u16::try_from(length).map_err(|_| Error::failure(format!("a GIF cannot be {length} pixels long")))
    };
    let (width, height) = (side(first.width())?, side(first.height())?);
    let failure = |error: gif::EncodingError| Error::failure(format!("cannot make a GIF: {error}"));
    let palette = small_palette(frames);
    let shared = palette.as_ref().map(|palette| palette.concat()).unwrap_or_default();
    let mut bytes = Vec::new();
    let mut encoder = gif::Encoder::new(&mut bytes, width, height, &shared).map_err(failure)?;
    encoder.set_repeat(gif::Repeat::Infinite).map_err(failure)?;
    for canvas in frames {
        if (canvas.width(), canvas.height()) != (first.width(), first.height()) {
            return Err(Error::failure("the frames of an animation differ in size"));
        }
        let mut frame = match &palette {
            Some(palette) => indexed_frame(canvas, palette, width, height),
            // Ten is the slowest setting that still takes well under a second for a frame.
            None => gif::Frame::from_rgb_speed(width, height, canvas.pixels(), 10),
        };
        frame.delay = (frame_secs * 100.0).round() as u16;
        encoder.write_frame(&frame).map_err(failure)?;
    }
    drop(encoder);
    Ok(bytes)
}

/// All colours in order, where they are few enough to be kept exactly.
fn small_palette(frames: &[Canvas]) -> Option<Vec<Colour>> {
    let mut colours = BTreeSet::new();
    for pixel in frames.iter().flat_map(|frame| frame.pixels().chunks_exact(3)) {
        colours.insert([pixel[0], pixel[1], pixel[2]]);
        if colours.len() > 256 {
            return None;
        }
    }
    Some(colours.into_iter().collect())
}

fn indexed_frame(canvas: &Canvas, palette: &[Colour], width: u16, height: u16) -> gif::Frame<'static> {
    let numbers = canvas.pixels().chunks_exact(3).map(|pixel| {
        let colour = [pixel[0], pixel[1], pixel[2]];
        palette.binary_search(&colour).unwrap_or_default() as u8
    });
    gif::Frame { width, height, buffer: Cow::Owned(numbers.collect()), ..gif::Frame::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::Area;

    fn decode(bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(bytes).unwrap();
        let mut frames = Vec::new();
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            frames.push((frame.delay, frame.buffer.to_vec()));
        }
        frames
    }

    #[test]
    fn few_colours_are_kept_exactly() {
        let mut frames = vec![Canvas::new(5, 4); 3];
        frames[1].fill(Area { x: 0, y: 0, width: 2, height: 2 }, [200, 10, 30]);
        let decoded = decode(&to_gif(&frames, 0.08).unwrap());
        assert_eq!(decoded.len(), 3);
        assert_eq!(decoded[1].0, 8);
        assert_eq!(decoded[1].1[..4], [200, 10, 30, 255]);
    }

    #[test]
    fn many_colours_are_brought_down_to_near_ones() {
        let mut canvas = Canvas::new(64, 64);
        for x in 0..64 {
            for y in 0..64 {
                canvas.blend(x, y, [4 * x as u8, 4 * y as u8, 128], 1.0);
            }
        }
        let decoded = decode(&to_gif(&[canvas.clone()], 0.1).unwrap());
        let error: f64 = decoded[0].1.chunks(4).zip(canvas.pixels().chunks(3)).fold(0.0, |sum, (found, wanted)| {
            sum + (0..3).map(|channel| f64::from(found[channel].abs_diff(wanted[channel]))).sum::<f64>()
        });
        assert!(error / (64.0 * 64.0 * 3.0) < 8.0, "mean error {}", error / (64.0 * 64.0 * 3.0));
    }

    #[test]
    fn frames_that_do_not_fit_are_refused() {
        assert!(to_gif(&[], 0.1).is_err());
        assert!(to_gif(&[Canvas::new(2, 2), Canvas::new(2, 3)], 0.1).is_err());
        assert!(to_gif(&[Canvas::new(70_000, 1)], 0.1).is_err());
    }
}
