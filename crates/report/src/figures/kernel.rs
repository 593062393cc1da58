//! A kernel as a picture: its taps in colours, with how far each is from the middle.

use super::heatmap::{BAR_WIDTH, draw_colour_bar};
use super::{LABEL, MARGIN, NOTE, TITLE, draw_title, title_height, widest};
use crate::canvas::{Area, Canvas};
use crate::colour::{FRAME, viridis};
use crate::text::Anchor;

/// Pixels that a kernel takes at most, each way.
const LONGEST_SIDE: usize = 900;
const GREATEST_SCALE: usize = 60;
/// Room for the numbers beside and below the kernel.
const LEFT: usize = 96;
const BELOW: usize = 84;

/// The kernel `[side, side]` with colours from its least tap, or 0 where none is less, to its greatest. Panics unless it is square.
pub fn kernel_picture(title: &str, taps: &[f32]) -> Canvas {
    let side = taps.len().isqrt();
    assert_eq!(side * side, taps.len(), "a kernel is square");
    let scale = (LONGEST_SIDE / side.max(1)).clamp(1, GREATEST_SCALE);
    let (left, top, length) = (MARGIN + LEFT, title_height(title), side * scale);
    let right = left + length.max(120) + 32 + BAR_WIDTH + 130;
    let width = right.max(MARGIN + widest(TITLE, [title])) + MARGIN;
    let mut canvas = Canvas::new(width, top + length.max(120) + BELOW + MARGIN);
    draw_title(&mut canvas, title);

    let least = taps.iter().fold(0.0_f32, |least, &tap| least.min(tap));
    let greatest = taps.iter().fold(f32::MIN, |greatest, &tap| greatest.max(tap));
    let high = if greatest > least { greatest } else { least + 1.0 };
    for (tap, value) in taps.iter().enumerate() {
        let square = Area { x: left + tap % side * scale, y: top + tap / side * scale, width: scale, height: scale };
        canvas.fill(square, viridis(f64::from((value - least) / (high - least))));
    }
    canvas.outline(Area { x: left, y: top, width: length, height: length }, FRAME);
    draw_distances(&mut canvas, side, scale, (left, top));
    let bar = Area { x: left + length.max(120) + 32, y: top, width: BAR_WIDTH, height: length.max(120) };
    draw_colour_bar(&mut canvas, bar, [least, high].map(f64::from), viridis);
    canvas
}

/// How many pixels the ends and the middle are from the middle, beside and below.
fn draw_distances(canvas: &mut Canvas, side: usize, scale: usize, (left, top): (usize, usize)) {
    let radius = side / 2;
    let places = if radius == 0 { vec![0] } else { vec![0, radius, side - 1] };
    for place in places {
        let text = (place as i64 - radius as i64).to_string().replace('-', "−");
        let along = (place * scale + scale / 2) as f32;
        let y = top as f32 + along + NOTE.half_height();
        canvas.text((left - 12) as f32, y, &text, NOTE.anchored(Anchor::End));
        let below = (top + side * scale + 30) as f32;
        canvas.text(left as f32 + along, below, &text, NOTE.anchored(Anchor::Middle));
    }
    let middle = (side * scale / 2) as f32;
    canvas.text(
        left as f32 + middle,
        (top + side * scale + 66) as f32,
        "pixels to the right",
        LABEL.anchored(Anchor::Middle),
    );
    let half = LABEL.width("pixels down") / 2.0;
    canvas.text_upwards((MARGIN + 20) as f32, top as f32 + middle + half, "pixels down", LABEL);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_have_the_colour_of_their_value() {
        let canvas = kernel_picture("", &[0.0, 1.0, 2.0, 1.0, 4.0, 1.0, 2.0, 1.0, 0.0]);
        let (left, top) = (MARGIN + LEFT, title_height(""));
        assert_eq!(canvas.colour(left + 20, top + 20), viridis(0.0));
        assert_eq!(canvas.colour(left + 90, top + 90), viridis(1.0));
        assert_eq!(canvas.colour(left + 150, top + 20), viridis(0.5));
    }

    #[test]
    fn kernels_of_any_size_are_drawn() {
        for side in [1, 3, 63, 255] {
            assert!(kernel_picture("A title", &vec![0.5; side * side]).width() > 100);
        }
    }
}
