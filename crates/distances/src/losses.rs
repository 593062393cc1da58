//! Reconstruction losses as distances between images (T1 equation 3.3), chosen by name: `mse`, `mae`, `mse_box31`, `mse_gaussian31`, or the
//! path of a learned kernel.
//!
//! All are means over the numbers of an image. Those with a filter are `mse + weight * mse` of the filtered images (T1 equations 3.8 and
//! 6.3), with the weight 63^2 of T1 section 3.4.1 for blurs and 1 for learned kernels, which are not normalised.

use std::path::Path;

use unbraid_data::error::did_you_mean;
use unbraid_data::kernel_file::{Kernel, read_kernel};
use unbraid_data::{Error, ImageShape, Result};
use unbraid_kernels::{FilterShape, gaussian_taps};

use crate::views::{ImageFilter, Numbers, View};

/// The weight of the squared error of blurred images.
pub const BLUR_WEIGHT: f64 = 3969.0;
/// Blurs that reach farther than this are asked for by mistake.
const MOST_RADIUS: usize = 255;
/// What a name without a radius means.
const USUAL_RADIUS: usize = 31;

/// A loss by which images are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    /// As it was asked for: `mse_box31`, or the path of a file.
    pub name: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    SquaredError,
    AbsoluteError,
    Box { radius: usize },
    Gaussian { radius: usize },
    Kernel(Kernel),
}

impl Loss {
    /// Reads a name, or the kernel that it is the path of.
    pub fn parse(text: &str) -> Result<Self> {
        let named = |kind| Ok(Self { name: text.to_string(), kind });
        match text {
            "mse" => return named(Kind::SquaredError),
            "mae" => return named(Kind::AbsoluteError),
            _ => {}
        }
        let path = Path::new(text);
        if text.ends_with(".npy") || path.exists() {
            return named(Kind::Kernel(read_kernel(path)?));
        }
        if let Some(radius) = text.strip_prefix("mse_box") {
            return named(Kind::Box { radius: read_radius(text, radius)? });
        }
        if let Some(radius) = text.strip_prefix("mse_gaussian") {
            return named(Kind::Gaussian { radius: read_radius(text, radius)? });
        }
        let close = did_you_mean(text, ["mse", "mae", "mse_box31", "mse_gaussian31"]);
        Err(Error::new(format!("no loss is called \"{text}\"{close}")).help(
            "wanted mse, mae, mse_box31, mse_gaussian31 (or another radius), or the path of a kernel, like kernel.npy",
        ))
    }

    /// A loss with a learned kernel.
    pub fn of_kernel(name: &str, kernel: Kernel) -> Self {
        Self { name: name.to_string(), kind: Kind::Kernel(kernel) }
    }

    /// Whether it looks at single pixels alone.
    pub fn is_of_pixels(&self) -> bool {
        matches!(self.kind, Kind::SquaredError | Kind::AbsoluteError)
    }

    /// How a config names it, where one can: as a value of `reconstruction`.
    pub fn as_setting(&self) -> String {
        match &self.kind {
            Kind::SquaredError | Kind::AbsoluteError => format!("\"{}\"", self.name),
            Kind::Box { radius } => format!("{{ name = \"mse_box\", radius = {radius} }}"),
            Kind::Gaussian { radius } => format!("{{ name = \"mse_gaussian\", radius = {radius} }}"),
            Kind::Kernel(_) => format!("{{ name = \"mse_kernel\", path = \"{}\" }}", self.name),
        }
    }

    /// What it looks at in images of this shape.
    pub fn view(&self, shape: ImageShape, numbers: Numbers) -> View {
        let ImageShape { height, width, channels } = shape;
        let shape = FilterShape { height, width, channels };
        match &self.kind {
            Kind::SquaredError => View::Squares,
            Kind::AbsoluteError => View::Absolutes,
            Kind::Box { radius } => {
                let n_taps = ((2 * radius + 1) * (2 * radius + 1)) as f64;
                let filter = ImageFilter::window_sums(shape, *radius, numbers);
                View::Filtered { filter: Box::new(filter), weight: BLUR_WEIGHT / (n_taps * n_taps) }
            }
            Kind::Gaussian { radius } => {
                let filter = ImageFilter::separable(shape, &gaussian_taps(*radius));
                View::Filtered { filter: Box::new(filter), weight: BLUR_WEIGHT }
            }
            Kind::Kernel(kernel) => {
                View::Filtered { filter: Box::new(ImageFilter::kernel(shape, kernel.taps())), weight: 1.0 }
            }
        }
    }
}

fn read_radius(text: &str, digits: &str) -> Result<usize> {
    let digits = digits.strip_prefix('_').unwrap_or(digits);
    let radius = if digits.is_empty() { Some(USUAL_RADIUS) } else { digits.parse().ok() };
    radius.filter(|radius| (1..=MOST_RADIUS).contains(radius)).ok_or_else(|| {
        Error::new(format!("the radius in \"{text}\" is \"{digits}\""))
            .help(format!("wanted a whole number from 1 to {MOST_RADIUS}, like mse_box31"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        assert_eq!(Loss::parse("mse_box").unwrap().kind, Kind::Box { radius: 31 });
        assert_eq!(Loss::parse("mse_box7").unwrap().kind, Kind::Box { radius: 7 });
        assert_eq!(Loss::parse("mse_gaussian_15").unwrap().kind, Kind::Gaussian { radius: 15 });
        assert_eq!(Loss::parse("mse_box7").unwrap().as_setting(), "{ name = \"mse_box\", radius = 7 }");
    }

    #[test]
    fn mistakes_are_named() {
        let message = |text: &str| Loss::parse(text).unwrap_err().to_string();
        assert!(message("mes").starts_with("no loss is called \"mes\"; did you mean \"mse\"?"));
        assert!(message("mse_box0").starts_with("the radius in \"mse_box0\" is \"0\""));
        assert!(message("mse_gaussianx").contains("wanted a whole number from 1 to 255"));
        assert!(message("nowhere/kernel.npy").contains("nowhere/kernel.npy"));
    }
}
