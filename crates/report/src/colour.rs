//! The colours of all figures: ink, paper, one colour and dash per series, and a map from numbers to colours.

/// Red, green and blue.
pub type Colour = [u8; 3];

/// Behind every figure.
pub const PAPER: Colour = [252, 252, 252];
/// Titles and labels.
pub const INK: Colour = [34, 36, 40];
/// Secondary labels.
pub const FAINT_INK: Colour = [104, 109, 117];
/// Frames around pictures and panels.
pub const FRAME: Colour = [176, 180, 186];
/// Lines of a grid behind curves.
pub const GRID: Colour = [228, 230, 233];

// Chosen to be told apart by readers with any colour vision, and to differ in lightness from their neighbours.
const SERIES: [Colour; 8] = [
    [20, 82, 140],
    [230, 145, 20],
    [0, 128, 96],
    [205, 120, 170],
    [170, 50, 40],
    [86, 180, 233],
    [90, 70, 140],
    [125, 125, 125],
];

const DASHES: [&[f32]; 8] = [
    &[],
    &[14.0, 7.0],
    &[4.0, 6.0],
    &[18.0, 6.0, 4.0, 6.0],
    &[30.0, 9.0],
    &[8.0, 4.0],
    &[18.0, 5.0, 4.0, 5.0, 4.0, 5.0],
    &[3.0, 12.0],
];

// Nine equally spaced colours of viridis (van der Walt and Smith, 2015), whose lightness rises with the value.
const VIRIDIS: [Colour; 9] = [
    [68, 1, 84],
    [71, 45, 123],
    [59, 82, 139],
    [44, 114, 142],
    [33, 145, 140],
    [40, 174, 128],
    [94, 201, 98],
    [173, 220, 48],
    [253, 231, 37],
];

// From dark blue over grey to pale yellow: the hue tells the sign, and the lightness rises all the way, so that a grey print
// tells it too.
const DIVERGING: [Colour; 5] = [[8, 32, 96], [52, 96, 166], [140, 142, 145], [226, 172, 88], [255, 238, 175]];

/// The colour of the series with this number; they repeat after eight.
pub fn series_colour(index: usize) -> Colour {
    SERIES[index % SERIES.len()]
}

/// The lengths of strokes and gaps for the series with this number, so that series differ without colour too. Where colours repeat,
/// dashes are moved on by one.
pub fn series_dash(index: usize) -> &'static [f32] {
    DASHES[(index + index / SERIES.len()) % DASHES.len()]
}

/// The viridis colour of `position` in [0, 1]; what lies outside gets the nearest end.
pub fn viridis(position: f64) -> Colour {
    between(&VIRIDIS, position)
}

/// The colour of a signed `value` in [-1, 1]: blue and dark below 0, grey at 0, yellow and light above.
pub fn diverging(value: f64) -> Colour {
    between(&DIVERGING, (value + 1.0) / 2.0)
}

/// The colour at a position in [0, 1] among equally spaced ones.
fn between(colours: &[Colour], position: f64) -> Colour {
    let place = position.clamp(0.0, 1.0) * (colours.len() - 1) as f64;
    let below = (place as usize).min(colours.len() - 2);
    mix(colours[below], colours[below + 1], (place - below as f64) as f32)
}

/// `amount` in [0, 1] of the way from one colour to another.
pub fn mix(from: Colour, to: Colour, amount: f32) -> Colour {
    std::array::from_fn(|channel| {
        let (from, to) = (f32::from(from[channel]), f32::from(to[channel]));
        (from + (to - from) * amount.clamp(0.0, 1.0)).round() as u8
    })
}

/// How light a colour looks, in [0, 1] (Rec. 709 weights, without undoing gamma).
pub fn lightness(colour: Colour) -> f64 {
    let [red, green, blue] = colour.map(f64::from);
    (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_gets_lighter_all_the_way() {
        let shades: Vec<f64> = (0..=100).map(|percent| lightness(viridis(f64::from(percent) / 100.0))).collect();
        assert!(shades.windows(2).all(|pair| pair[0] < pair[1]));
        let shades: Vec<f64> = (-50..=50).map(|value| lightness(diverging(f64::from(value) / 50.0))).collect();
        assert!(shades.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(diverging(0.0), [140, 142, 145]);
    }

    #[test]
    fn values_outside_the_map_get_its_ends() {
        assert_eq!(viridis(-3.0), [68, 1, 84]);
        assert_eq!(viridis(7.0), [253, 231, 37]);
        // Half way between the ends lies the fifth of nine colours.
        assert_eq!(viridis(0.5), [33, 145, 140]);
    }

    #[test]
    fn sixteen_series_differ_in_colour_or_dash() {
        for one in 0..16 {
            for other in 0..one {
                assert!((series_colour(one), series_dash(one)) != (series_colour(other), series_dash(other)));
            }
        }
    }

    #[test]
    fn neighbouring_series_differ_in_grey() {
        for index in 0..5 {
            let difference = lightness(series_colour(index)) - lightness(series_colour(index + 1));
            assert!(difference.abs() > 0.07, "series {index} and {}", index + 1);
        }
    }
}
