//! A dataset written to a `.npz` file that numpy reads: images, their factors and their numbers.
//!
//! Images are rendered group by group and compressed as they are written, so that the three billion bytes of dSprites
//! never lie in memory. The file takes its name when it is whole.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;
use unbraid_data::datasets::{Dataset, check_indices, read_numbered};
use unbraid_data::error::Result;
use unbraid_data::standardised::as_shown;

use crate::archive::{Archive, write_archive};

/// Images that are rendered, in parallel, before they are written.
const GROUP: usize = 256;

/// Writes the images numbered `indices`, or all, to `path`: `images` `[n, height, width, channels]` as bytes (floats
/// where the dataset holds no bytes), `factors` `[n, factors]` as whole numbers (floats where one is continuous),
/// `factor_sizes` (0 for a continuous factor), `factor_names`, and `index`, the image numbers. Where the dataset is
/// standardised, its original pixels are written.
pub fn export_npz(dataset: &dyn Dataset, indices: Option<&[usize]>, path: &Path) -> Result<()> {
    if let Some(indices) = indices {
        check_indices(dataset, indices)?;
    }
    let dataset = as_shown(dataset);
    let n_rows = indices.map_or(dataset.n_images(), <[usize]>::len);
    let index = |row: usize| indices.map_or(row, |indices| indices[row]);
    write_archive(path, |archive| write_arrays(archive, dataset, n_rows, index, |_, _| Ok(())))
}

/// Writes all images as `alter` changes them, and everything else as [`export_npz`] does. It is given the numbers of some images that follow
/// each other and their bytes, `[images, height, width, channels]`, and may fail, whereupon nothing is written.
pub fn export_altered_npz(
    dataset: &dyn Dataset,
    path: &Path,
    alter: impl FnMut(Range<usize>, &mut [u8]) -> Result<()>,
) -> Result<()> {
    assert!(dataset.holds_bytes(), "bytes are altered");
    write_archive(path, |archive| write_arrays(archive, dataset, dataset.n_images(), |row| row, alter))
}

fn write_arrays(
    archive: &mut Archive<'_>,
    dataset: &dyn Dataset,
    n_rows: usize,
    index: impl Fn(usize) -> usize + Sync + Copy,
    alter: impl FnMut(Range<usize>, &mut [u8]) -> Result<()>,
) -> std::io::Result<()> {
    write_images(archive, dataset, n_rows, index, alter)?;
    write_factors(archive, dataset, n_rows, index)?;
    archive.add_factor_space(dataset.factors())?;
    archive.add_whole_numbers("index", (0..n_rows).map(index))
}

fn write_images(
    archive: &mut Archive<'_>,
    dataset: &dyn Dataset,
    n_rows: usize,
    index: impl Fn(usize) -> usize + Sync,
    mut alter: impl FnMut(Range<usize>, &mut [u8]) -> Result<()>,
) -> std::io::Result<()> {
    let shape = dataset.image_shape();
    let (descr, bytes_per_pixel) = if dataset.holds_bytes() { ("|u1", 1) } else { ("<f4", 4) };
    archive.begin("images", descr, &[n_rows, shape.height, shape.width, shape.channels])?;
    let image_bytes = shape.n_pixels() * bytes_per_pixel;
    let mut buffer = vec![0; GROUP * image_bytes];
    for first_row in (0..n_rows).step_by(GROUP) {
        let filled = &mut buffer[..GROUP.min(n_rows - first_row) * image_bytes];
        let read = filled.par_chunks_exact_mut(image_bytes).enumerate().map_init(
            || vec![0.0; shape.n_pixels()],
            |pixels, (row, bytes)| {
                read_numbered(dataset, index(first_row + row), pixels).map(|()| encode(pixels, bytes))
            },
        );
        // The first error in order, whichever thread comes first.
        read.collect::<Vec<_>>().into_iter().collect::<Result<()>>().map_err(std::io::Error::other)?;
        let rows = first_row..(first_row + GROUP).min(n_rows);
        alter(rows, filled).map_err(std::io::Error::other)?;
        archive.zip.write_all(filled)?;
    }
    Ok(())
}

/// Writes pixels as one byte each, or as four where there is room for that.
fn encode(pixels: &[f32], bytes: &mut [u8]) {
    if bytes.len() == pixels.len() {
        for (byte, pixel) in bytes.iter_mut().zip(pixels) {
            *byte = (pixel * 255.0 + 0.5) as u8;
        }
    } else {
        for (chunk, pixel) in bytes.chunks_exact_mut(4).zip(pixels) {
            chunk.copy_from_slice(&pixel.to_le_bytes());
        }
    }
}

fn write_factors(
    archive: &mut Archive<'_>,
    dataset: &dyn Dataset,
    n_rows: usize,
    index: impl Fn(usize) -> usize,
) -> std::io::Result<()> {
    let are_discrete = dataset.factors().factors().iter().all(|factor| factor.size.is_some());
    let n_factors = dataset.factors().n_factors();
    archive.begin("factors", if are_discrete { "<i8" } else { "<f8" }, &[n_rows, n_factors])?;
    let mut values = vec![0.0; n_factors];
    for row in 0..n_rows {
        dataset.read_factors(index(row), &mut values);
        for &value in &values {
            archive.zip.write_all(&if are_discrete { (value as i64).to_le_bytes() } else { value.to_le_bytes() })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tempfile::tempdir;
    use toml::Table;
    use unbraid_data::datasets::{ImageShape, build};
    use unbraid_data::npy::indices;
    use unbraid_data::{Error, FactorSpace};

    use super::*;
    use crate::npz::Npz;

    #[test]
    fn what_is_exported_reads_back() {
        let dataset = build("xy_object", &Table::new()).unwrap();
        let folder = tempdir().unwrap();
        let path = folder.path().join("some.npz");
        let numbers = [74_999, 0, 12_345];
        export_npz(&*dataset, Some(&numbers), &path).unwrap();

        let mut npz = Npz::open(&path).unwrap();
        assert_eq!(npz.names(), ["images", "factors", "factor_sizes", "factor_names", "index"]);
        assert_eq!(indices(&npz.required("index").unwrap()).unwrap(), numbers);
        assert_eq!(npz.required("factor_sizes").unwrap().to_i64().unwrap(), [25, 25, 5, 24]);
        assert_eq!(npz.required("factor_names").unwrap().to_text().unwrap(), ["x", "y", "scale", "color"]);
        // 12345 = ((4*25 + 2)*5 + 4)*24 + 9
        let factors = npz.required("factors").unwrap();
        assert_eq!(factors.shape(), [3, 4]);
        assert_eq!(factors.to_i64().unwrap(), [24, 24, 4, 23, 0, 0, 0, 0, 4, 2, 4, 9]);
        let images = npz.required("images").unwrap();
        assert_eq!(images.shape(), [3, 64, 64, 3]);
        let bytes = images.into_u8().unwrap();
        let mut pixels = vec![0.0; 64 * 64 * 3];
        for (number, image) in numbers.iter().zip(bytes.chunks_exact(pixels.len())) {
            dataset.read_image(*number, &mut pixels).unwrap();
            assert!(image.iter().zip(&pixels).all(|(&byte, &pixel)| f32::from(byte) / 255.0 == pixel));
        }
        // Nothing but the file itself is left.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn altered_images_are_written_beside_the_same_factors() {
        let dataset = build("xy_squares", &"squares = 1\nspacing = 2\ngrid = 20".parse().unwrap()).unwrap();
        let folder = tempdir().unwrap();
        let [plain, altered] = ["plain.npz", "altered.npz"].map(|name| folder.path().join(name));
        export_npz(&*dataset, None, &plain).unwrap();
        let mut seen = Vec::new();
        let darken = |rows: Range<usize>, bytes: &mut [u8]| {
            seen.push(rows);
            bytes.iter_mut().for_each(|byte| *byte /= 2);
            Ok(())
        };
        export_altered_npz(&*dataset, &altered, darken).unwrap();
        assert_eq!(seen, [0..256, 256..400]);
        let [mut plain, mut altered] = [plain, altered].map(|path| Npz::open(&path).unwrap());
        assert_eq!(altered.names(), plain.names());
        let images = plain.required("images").unwrap().into_u8().unwrap();
        let halved: Vec<u8> = images.iter().map(|byte| byte / 2).collect();
        assert!(altered.required("images").unwrap().into_u8().unwrap() == halved);
        for name in ["factors", "factor_sizes", "index"] {
            let [plain, altered] = [&mut plain, &mut altered].map(|npz| npz.required(name).unwrap().to_i64().unwrap());
            assert_eq!(plain, altered, "{name}");
        }
        let refused = |_: Range<usize>, _: &mut [u8]| Err(Error::new("stopped"));
        let path = folder.path().join("none.npz");
        assert_eq!(export_altered_npz(&*dataset, &path, refused).unwrap_err().to_string(), "stopped");
        assert!(!path.exists());
    }

    #[test]
    fn standardised_images_are_written_with_their_original_colours() {
        let folder = tempdir().unwrap();
        let written = |settings: &str| {
            let path = folder.path().join("some.npz");
            let dataset = build("xy_object", &settings.parse().unwrap()).unwrap();
            export_npz(&*dataset, Some(&[7]), &path).unwrap();
            Npz::open(&path).unwrap().required("images").unwrap().into_u8().unwrap()
        };
        assert_eq!(written("fix = { x = 0 }\nstandardise = true"), written("fix = { x = 0 }"));
    }

    #[test]
    fn points_and_continuous_factors_are_floats() {
        let dataset = build("synth_nonlinear", &Table::new()).unwrap();
        let folder = tempdir().unwrap();
        let path = folder.path().join("points.npz");
        export_npz(&*dataset, None, &path).unwrap();
        let mut npz = Npz::open(&path).unwrap();
        assert_eq!(npz.required("factor_sizes").unwrap().to_i64().unwrap(), [0, 0]);
        let mut factors = [0.0; 2];
        dataset.read_factors(49_999, &mut factors);
        assert_eq!(npz.required("factors").unwrap().to_f64().unwrap()[99_998..], factors);
        let mut pixels = [0.0; 6];
        dataset.read_image(300, &mut pixels).unwrap();
        let images = npz.required("images").unwrap();
        assert_eq!(images.shape(), [50_000, 1, 1, 6]);
        assert_eq!(images.to_f64().unwrap()[1800..1806], pixels.map(f64::from));
    }

    /// The images of `xy_object`, of which number 7 cannot be read.
    struct Cut(Box<dyn Dataset>);

    impl Dataset for Cut {
        fn factors(&self) -> &FactorSpace {
            self.0.factors()
        }

        fn image_shape(&self) -> ImageShape {
            self.0.image_shape()
        }

        fn n_images(&self) -> usize {
            self.0.n_images()
        }

        fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
            if index == 7 { Err(Error::new("the file was cut")) } else { self.0.read_image(index, pixels) }
        }
    }

    #[test]
    fn an_image_that_cannot_be_read_is_named_and_nothing_is_written() {
        let dataset = Cut(build("xy_object", &Table::new()).unwrap());
        let folder = tempdir().unwrap();
        let error = export_npz(&dataset, Some(&[1, 7, 2]), &folder.path().join("a.npz")).unwrap_err();
        assert_eq!(error.to_string(), "image 7: the file was cut");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let dataset = build("xy_object", &Table::new()).unwrap();
        let message = |indices: &[usize], path: &str| {
            export_npz(&*dataset, Some(indices), Path::new(path)).unwrap_err().to_string()
        };
        assert!(message(&[75_000], "/tmp/never.npz").starts_with("there is no image 75000: the dataset has 75000"));
        assert!(
            message(&[0], "/no/such/folder/a.npz")
                .starts_with("cannot write /no/such/folder/a.npz: there is no such file or folder")
        );
        assert!(message(&[0], "/tmp").starts_with("cannot write /tmp: it is a folder\n       give the path of a file"));
        assert!(message(&[0], "/dev/null").starts_with("/dev/null is a device or a pipe"));
    }
}
