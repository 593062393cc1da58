//! Kernels as `.npy` files: what `unbraid learn-kernel` writes, or anyone by numpy.

use std::path::Path;

use crate::error::{Error, Result};
use crate::npy::{self, Announced, Kind, read_announced, read_file};
use ndarray::Array2;

/// Rows of the largest kernel that is read: it reaches across images of 128 rows from any pixel.
pub const MOST_SIDE: usize = 255;

/// A square kernel with a middle, of finite taps that are not all zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    side: usize,
    taps: Vec<f32>,
}

impl Kernel {
    /// A kernel of these taps, `[side, side]`.
    pub fn new(taps: Vec<f32>) -> Result<Self> {
        let side = taps.len().isqrt();
        check_shape(&if side * side == taps.len() { vec![side, side] } else { vec![taps.len()] })?;
        if let Some((tap, value)) = taps.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            let message = format!("the kernel holds {value} at row {}, column {}", tap / side, tap % side);
            return Err(Error::new(message).help("wanted finite numbers; learn or save the kernel again"));
        }
        if taps.iter().all(|&value| value == 0.0) {
            return Err(Error::new("the kernel is all zeros: no image would differ from another")
                .help("wanted at least one tap that is not 0"));
        }
        Ok(Self { side, taps })
    }

    /// Its rows, which are its columns too: an odd number.
    pub fn side(&self) -> usize {
        self.side
    }

    /// How far it reaches from its middle.
    pub fn radius(&self) -> usize {
        self.side / 2
    }

    /// Its taps, `[side, side]`.
    pub fn taps(&self) -> &[f32] {
        &self.taps
    }
}

/// Reads a kernel from an `.npy` file, `[side, side]` of 32 or 64 bit floats.
pub fn read_kernel(path: &Path) -> Result<Kernel> {
    let announced = read_announced(path)?;
    check_announced(&announced).map_err(|error| error.at(path.display()))?;
    let values = read_file(path)?.to_f64().map_err(|error| error.at(path.display()))?;
    let kernel = Kernel::new(values.into_iter().map(|value| value as f32).collect());
    kernel.map_err(|error| error.at(path.display()))
}

fn check_announced(announced: &Announced) -> Result<()> {
    if announced.kind != Kind::Float || announced.item_bytes < 4 {
        return Err(Error::new(format!("a kernel of {} is not read", announced.type_name()))
            .help("wanted float32 or float64: in numpy, kernel.astype(\"float32\")"));
    }
    check_shape(&announced.shape)
}

fn check_shape(shape: &[usize]) -> Result<()> {
    let found = match shape {
        &[rows, columns] if rows == columns && rows % 2 == 1 && rows <= MOST_SIDE => return Ok(()),
        &[rows, columns] if rows == columns && rows % 2 == 1 => format!("{rows} rows, more than {MOST_SIDE}"),
        &[rows, columns] if rows == columns => format!("{rows} rows, an even number, and so no middle"),
        &[rows, columns] => format!("{rows} rows and {columns} columns"),
        other => format!("shape {other:?}"),
    };
    Err(Error::new(format!("the kernel has {found}"))
        .help(format!("wanted a square [side, side] of an odd side up to {MOST_SIDE}, for instance [63, 63]")))
}

/// Writes a kernel as an `.npy` file of 32-bit floats.
pub fn write_kernel(path: &Path, kernel: &Kernel) -> Result<()> {
    let taps =
        Array2::from_shape_fn((kernel.side, kernel.side), |(row, column)| kernel.taps[row * kernel.side + column]);
    npy::write_file(path, &taps)
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2, array};

    use super::*;
    use crate::npy::write_file;

    fn path(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("unbraid-kernel-file-{}-{name}.npy", std::process::id()))
    }

    fn message(name: &str, write: impl FnOnce(&Path)) -> String {
        let path = path(name);
        write(&path);
        let error = read_kernel(&path).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(error.matches(&path.display().to_string()).count(), 1, "{error}");
        error.replace(&format!("{}: ", path.display()), "")
    }

    #[test]
    fn kernels_come_back_from_both_kinds_of_floats() {
        let path = path("whole");
        write_file(&path, &array![[0.0, 1.0, 0.0], [1.0, 4.5, 1.0], [0.0, 1.0, 0.25_f64]]).unwrap();
        let kernel = read_kernel(&path).unwrap();
        assert_eq!((kernel.side(), kernel.radius(), kernel.taps()[4], kernel.taps()[8]), (3, 1, 4.5, 0.25));
        write_kernel(&path, &kernel).unwrap();
        assert_eq!(read_kernel(&path).unwrap(), kernel);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn each_mistake_is_one_clear_error() {
        let zeros =
            |rows, columns| move |path: &Path| write_file(path, &Array2::<f32>::zeros((rows, columns))).unwrap();
        assert_eq!(
            message("flat", |path| write_file(path, &Array1::<f32>::ones(9)).unwrap()),
            "the kernel has shape [9]\n       wanted a square [side, side] of an odd side up to 255, for instance [63, 63]"
        );
        assert!(message("oblong", zeros(3, 5)).starts_with("the kernel has 3 rows and 5 columns\n"));
        assert!(message("even", zeros(4, 4)).starts_with("the kernel has 4 rows, an even number, and so no middle\n"));
        assert!(message("large", zeros(257, 257)).starts_with("the kernel has 257 rows, more than 255\n"));
        assert!(message("empty", zeros(0, 0)).starts_with("the kernel has 0 rows, an even number"));
        assert!(message("zeros", zeros(3, 3)).starts_with("the kernel is all zeros"));
        let not_a_number =
            |path: &Path| write_file(path, &array![[1.0, 0.0, 0.0], [0.0, 0.0, f32::NAN], [0.0, 0.0, 0.0]]).unwrap();
        assert_eq!(
            message("nan", not_a_number),
            "the kernel holds NaN at row 1, column 2\n       wanted finite numbers; learn or save the kernel again"
        );
        let too_large = |path: &Path| write_file(path, &array![[1e300_f64]]).unwrap();
        assert!(message("large-tap", too_large).starts_with("the kernel holds inf at row 0, column 0\n"));
        let whole = |path: &Path| write_file(path, &array![[1_i64]]).unwrap();
        assert!(message("whole-numbers", whole).starts_with("a kernel of int64 is not read\n"));
        assert!(message("no-array", |path| std::fs::write(path, b"hello").unwrap()).len() > 10);
    }

    #[test]
    fn a_missing_file_is_named() {
        let message = read_kernel(Path::new("/no/such.npy")).unwrap_err().to_string();
        assert!(message.starts_with("there is no file /no/such.npy"), "{message}");
    }
}
