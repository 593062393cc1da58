//! Part of a dataset: some factors held at one value, or within a first and a last one, the others left to vary.

use toml::{Table, Value};

use crate::datasets::{Dataset, ImageShape};
use crate::error::{Error, Result};
use crate::factor_space::FactorSpace;

/// The images of a grid on which the fixed factors have their values. Factors that are held at one value leave the factor space; those that are held
/// within a range stay, with values numbered from 0 again.
pub struct SubGrid {
    whole: Box<dyn Dataset>,
    factors: FactorSpace,
    n_images: usize,
    /// The image of the whole dataset at which all free factors have their first value.
    first: usize,
    /// Size of each free factor, and how far apart in the whole dataset two neighbouring values of it are.
    sizes_and_strides: Vec<(usize, usize)>,
}

impl SubGrid {
    /// Fixes factors of `whole` at the values that `fix` gives by their names, for instance `{ shape = 0 }`, or from a first to a last value, `{ pos_y = [5, 25] }`.
    pub fn new(whole: Box<dyn Dataset>, fix: &Table) -> Result<Self> {
        let sizes = whole.factors().grid_sizes()?;
        let mut kept: Vec<Kept> = sizes.iter().map(|&size| Kept::Range { first: 0, size }).collect();
        for (name, value) in fix {
            let position = whole.factors().position(name)?;
            kept[position] = checked_value(name, value, sizes[position])?;
        }
        if kept.iter().all(|kept| matches!(kept, Kept::Value(_))) {
            return Err(Error::new("all factors are fixed, which leaves one image").help("leave a factor out of fix"));
        }

        let mut first_image = 0;
        let mut stride = 1;
        let mut free = Vec::new(); // position, size and stride
        for position in (0..sizes.len()).rev() {
            match kept[position] {
                Kept::Value(value) => first_image += value * stride,
                Kept::Range { first, size } => {
                    first_image += first * stride;
                    free.push((position, size, stride));
                }
            }
            stride *= sizes[position];
        }
        free.reverse();
        let names: Vec<&str> = whole.factors().names().collect();
        let factors = FactorSpace::grid(free.iter().map(|&(position, size, _)| (names[position], size)));
        let sizes_and_strides: Vec<_> = free.iter().map(|&(_, size, stride)| (size, stride)).collect();
        let n_images = sizes_and_strides.iter().map(|(size, _)| size).product();
        Ok(Self { whole, factors, n_images, first: first_image, sizes_and_strides })
    }

    /// The number in the whole dataset of image `index`.
    pub fn index_in_whole(&self, mut index: usize) -> usize {
        let mut whole_index = self.first;
        for (size, stride) in self.sizes_and_strides.iter().rev() {
            whole_index += index % size * stride;
            index /= size;
        }
        whole_index
    }
}

impl Dataset for SubGrid {
    fn factors(&self) -> &FactorSpace {
        &self.factors
    }

    fn image_shape(&self) -> ImageShape {
        self.whole.image_shape()
    }

    fn n_images(&self) -> usize {
        self.n_images
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        self.whole.read_image(self.index_in_whole(index), pixels)
    }

    fn holds_bytes(&self) -> bool {
        self.whole.holds_bytes()
    }

    fn has_unit_pixels(&self) -> bool {
        self.whole.has_unit_pixels()
    }

    fn file_row(&self, index: usize) -> Option<usize> {
        self.whole.file_row(self.index_in_whole(index))
    }

    fn image_name(&self, index: usize) -> Option<String> {
        self.whole.image_name(self.index_in_whole(index))
    }

    fn unordered_factors(&self) -> Vec<usize> {
        let names: Vec<&str> = self.whole.factors().names().collect();
        let unordered = self.whole.unordered_factors();
        // A factor that was fixed is no longer there.
        unordered.into_iter().filter_map(|position| self.factors.position(names[position]).ok()).collect()
    }
}

/// What is kept of a factor.
#[derive(Clone, Copy)]
enum Kept {
    /// One value.
    Value(usize),
    /// So many values from a first one on.
    Range { first: usize, size: usize },
}

fn checked_value(name: &str, value: &Value, size: usize) -> Result<Kept> {
    let whole = |value: &Value| value.as_integer().and_then(|whole| usize::try_from(whole).ok()).filter(|&v| v < size);
    let kept = match value {
        Value::Array(ends) => match ends.iter().map(whole).collect::<Option<Vec<usize>>>().as_deref() {
            Some(&[first, last]) if first < last => Some(Kept::Range { first, size: last - first + 1 }),
            _ => None,
        },
        value => whole(value).map(Kept::Value),
    };
    kept.ok_or_else(|| {
        Error::new(format!("factor \"{name}\" cannot be fixed at {value}")).help(format!(
            "it takes one of the whole numbers 0 to {}, or a first and a larger last one, like [0, {}]",
            size - 1,
            size - 1
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::{build, find};

    fn sub_grid(name: &str, fix: &str) -> Result<SubGrid> {
        SubGrid::new(
            find(name).and_then(|entry| build(name, &entry.example_settings())).unwrap(),
            &fix.parse().unwrap(),
        )
    }

    fn message(name: &str, fix: &str) -> String {
        sub_grid(name, fix).err().unwrap().to_string()
    }

    #[test]
    fn fixed_factors_leave_the_space_and_the_others_keep_their_images() {
        // dSprites is 3 x 6 x 40 x 32 x 32: orientation 7 is 7*1024, scale 2 and shape 1 are 1*245760 + 2*40960.
        let part = sub_grid("dsprites", "orientation = 7\npos_y = 5").unwrap();
        assert_eq!(part.factors().names().collect::<Vec<_>>(), ["shape", "scale", "pos_x"]);
        assert_eq!(part.n_images(), 3 * 6 * 32);
        let index = (6 + 2) * 32 + 9; // shape 1, scale 2, pos_x 9
        assert_eq!(part.index_in_whole(index), 245_760 + 2 * 40_960 + 7 * 1024 + 9 * 32 + 5);
    }

    #[test]
    fn factors_within_a_range_stay_and_are_numbered_from_0() {
        // shape 1 is 1*245760; scale 2 of the whole is the first that is left, so that scale 1 here is scale 3 there.
        let part = sub_grid("dsprites", "shape = 1\nscale = [2, 4]\norientation = 0\npos_y = [5, 25]").unwrap();
        assert_eq!(part.factors().names().collect::<Vec<_>>(), ["scale", "pos_x", "pos_y"]);
        assert_eq!(part.factors().grid_sizes().unwrap(), [3, 32, 21]);
        assert_eq!(part.n_images(), 3 * 32 * 21);
        let index = (32 + 9) * 21 + 20; // scale 1, pos_x 9, pos_y 20
        assert_eq!(part.index_in_whole(index), 245_760 + 3 * 40_960 + 9 * 32 + 25);
    }

    #[test]
    fn what_cannot_be_fixed_is_refused() {
        assert!(message("xy_object", "scal = 1").starts_with("no factor is called \"scal\"; did you mean \"scale\"?"));
        let expected = "factor \"scale\" cannot be fixed at 5\n       it takes one of the whole numbers 0 to 4, or a first and a larger last one, like [0, 4]";
        assert_eq!(message("xy_object", "scale = 5"), expected);
        for range in ["[]", "[1]", "[1, 1]", "[3, 1]", "[0, 5]", "[-1, 2]", "[0, 1, 2]", "[0, 'big']"] {
            let found = message("xy_object", &format!("scale = {range}"));
            assert!(found.starts_with("factor \"scale\" cannot be fixed at ["), "{range}: {found}");
        }
        assert!(message("xy_object", "scale = -1").starts_with("factor \"scale\" cannot be fixed at -1"));
        assert!(message("xy_object", "scale = 'big'").starts_with("factor \"scale\" cannot be fixed at \"big\""));
        assert!(message("xy_object", "x = 0\ny = 0\nscale = 0\ncolor = 0").starts_with("all factors are fixed"));
        assert!(message("synth_linear", "first = 0").contains("do not form a grid"));
    }
}
