//! Letters on a canvas, from a font that is carried in the program (DejaVu Sans), so that figures look the same
//! everywhere.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};

use crate::canvas::Canvas;
use crate::colour::{Colour, INK};

static REGULAR: LazyLock<FontRef<'static>> =
    LazyLock::new(|| FontRef::try_from_slice(dejavu::sans::regular()).expect("the carried font can be read"));
static BOLD: LazyLock<FontRef<'static>> =
    LazyLock::new(|| FontRef::try_from_slice(dejavu::sans::bold()).expect("the carried font can be read"));

/// How a text looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextStyle {
    /// Pixels from line to line, as in CSS.
    pub size: f32,
    /// Thin or thick strokes.
    pub weight: Weight,
    /// What colour.
    pub colour: Colour,
    /// Which part of the text lies at the given place.
    pub anchor: Anchor,
}

/// Thin or thick strokes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// For labels.
    Regular,
    /// For titles.
    Bold,
}

/// Which part of a text lies at the given place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins there.
    Start,
    /// The text has its middle there.
    Middle,
    /// The text ends there.
    End,
}

impl TextStyle {
    /// Thin dark letters that begin at the given place.
    pub const fn new(size: f32) -> Self {
        Self { size, weight: Weight::Regular, colour: INK, anchor: Anchor::Start }
    }

    /// With thick strokes.
    pub const fn bold(self) -> Self {
        Self { weight: Weight::Bold, ..self }
    }

    /// In this colour.
    pub const fn coloured(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    /// With this part at the given place.
    pub const fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// How many pixels a text takes across.
    pub fn width(&self, text: &str) -> f32 {
        self.lay_out(text).1
    }

    /// From the baseline to the middle of the small letters and digits, to centre a line on a place.
    pub fn half_height(&self) -> f32 {
        (self.size * 0.36).round()
    }

    /// The longest beginning of `text` that fits, with an ellipsis where something was left out.
    pub fn fit(&self, text: &str, width: f32) -> String {
        if self.width(text) <= width {
            return text.to_string();
        }
        let n_letters = text.chars().count();
        let shortened = |n: usize| text.chars().take(n).chain(['…']).collect::<String>();
        (1..n_letters).rev().map(shortened).find(|short| self.width(short) <= width).unwrap_or_else(|| shortened(1))
    }

    fn font(&self) -> &'static FontRef<'static> {
        match self.weight {
            Weight::Regular => &REGULAR,
            Weight::Bold => &BOLD,
        }
    }

    /// The letters along a baseline that starts at the origin, and how far they reach.
    fn lay_out(&self, text: &str) -> (Vec<Glyph>, f32) {
        let font = self.font();
        // The font's own scale counts from the deepest to the highest stroke; sizes here are of the em square.
        let em = font.units_per_em().unwrap_or(1000.0);
        let scale = PxScale::from(self.size * font.height_unscaled() / em);
        let scaled = font.as_scaled(scale);
        let mut glyphs = Vec::new();
        let mut x = 0.0;
        let mut previous = None;
        for letter in text.chars() {
            let id = scaled.glyph_id(letter);
            x += previous.map_or(0.0, |previous| scaled.kern(previous, id));
            glyphs.push(id.with_scale_and_position(scale, point(x, 0.0)));
            x += scaled.h_advance(id);
            previous = Some(id);
        }
        (glyphs, x)
    }
}

impl Canvas {
    /// Writes a text with its baseline at `y`.
    pub fn text(&mut self, x: f32, y: f32, text: &str, style: TextStyle) {
        let (x, y) = (x.round() as i64, y.round() as i64);
        for_each_dot(text, style, |right, down, share| self.blend(x + right, y + down, style.colour, share));
    }

    /// Writes a text from below to above, with its baseline at `x`.
    pub fn text_upwards(&mut self, x: f32, y: f32, text: &str, style: TextStyle) {
        let (x, y) = (x.round() as i64, y.round() as i64);
        for_each_dot(text, style, |right, down, share| self.blend(x + down, y - right, style.colour, share));
    }
}

/// Calls `draw` with the place of each dot, right of and below the anchor on the baseline, and how much ink it has.
fn for_each_dot(text: &str, style: TextStyle, mut draw: impl FnMut(i64, i64, f32)) {
    let (glyphs, width) = style.lay_out(text);
    let shift = match style.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    let shift = shift.round() as i64;
    for outlined in glyphs.into_iter().filter_map(|glyph| style.font().outline_glyph(glyph)) {
        let bounds = outlined.px_bounds();
        let (left, top) = (bounds.min.x as i64 - shift, bounds.min.y as i64);
        outlined.draw(|x, y, share| draw(left + i64::from(x), top + i64::from(y), share));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::PAPER;

    fn inked_box(canvas: &Canvas) -> Option<[usize; 4]> {
        let inked = (0..canvas.height())
            .flat_map(|y| (0..canvas.width()).map(move |x| (x, y)))
            .filter(|&(x, y)| canvas.colour(x, y) != PAPER);
        inked.fold(None, |bounds, (x, y)| {
            let [left, top, right, bottom] = bounds.unwrap_or([x, y, x, y]);
            Some([left.min(x), top.min(y), right.max(x), bottom.max(y)])
        })
    }

    #[test]
    fn letters_stand_on_their_baseline_within_their_width() {
        let style = TextStyle::new(20.0);
        let mut canvas = Canvas::new(200, 40);
        canvas.text(10.0, 30.0, "HEIGHT", style);
        let [left, top, right, bottom] = inked_box(&canvas).unwrap();
        assert!(left >= 10 && right as f32 <= 10.0 + style.width("HEIGHT"), "{left}..{right}");
        // Capitals of DejaVu Sans are 0.73 em high, and round ones reach a little below the line.
        assert!((14..=16).contains(&top) && (29..=30).contains(&bottom), "{top}..{bottom}");
    }

    #[test]
    fn anchors_move_a_text_by_its_width() {
        let style = TextStyle::new(16.0);
        let left_edge = |anchor| {
            let mut canvas = Canvas::new(300, 40);
            canvas.text(150.0, 30.0, "label", style.anchored(anchor));
            inked_box(&canvas).unwrap()[0] as f32
        };
        let width = style.width("label");
        assert!((left_edge(Anchor::Start) - left_edge(Anchor::End) - width).abs() <= 1.0);
        assert!((left_edge(Anchor::Start) - left_edge(Anchor::Middle) - width / 2.0).abs() <= 1.0);
    }

    #[test]
    fn upward_text_is_turned() {
        let style = TextStyle::new(20.0);
        let mut canvas = Canvas::new(40, 200);
        canvas.text_upwards(30.0, 190.0, "HEIGHT", style);
        let [left, top, right, bottom] = inked_box(&canvas).unwrap();
        assert!(bottom - top > 2 * (right - left));
    }

    #[test]
    fn long_texts_are_cut_to_fit() {
        let style = TextStyle::new(16.0);
        assert_eq!(style.fit("short", 500.0), "short");
        let cut = style.fit("orientation of the object", 100.0);
        assert!(cut.ends_with('…') && style.width(&cut) <= 100.0, "{cut}");
    }
}
