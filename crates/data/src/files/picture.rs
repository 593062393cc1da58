//! Pictures in files of the common formats, decoded to bytes, and resized as Pillow resizes them.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use image::{ColorType, DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult, Limits};

use crate::error::{Error, Result};
use crate::file_errors::{cannot_read, check_is_file};
use crate::files::picture_end::look_for_end;
use crate::words::shortened;

/// The endings of the files that are taken for pictures.
pub const ENDINGS: &[&str] = &["png", "jpg", "jpeg", "bmp", "gif", "webp", "tif", "tiff", "ppm", "pgm", "pbm", "pnm"];

/// A wider or higher picture is refused: none that is looked at is so large.
const MOST_SIDE: u32 = 1 << 15;
/// The most memory that decoding one picture may take.
const MOST_BYTES: u64 = 1 << 28;
/// Letters of what a decoder says that are told.
const MOST_LETTERS: usize = 300;
/// Sub-folders below each other that are looked through.
const MOST_DEPTH: usize = 16;

/// A picture as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Rows of pixels.
    pub height: usize,
    /// Pixels in a row.
    pub width: usize,
    /// 1 for grey, 3 for colour.
    pub channels: usize,
    /// `[height, width, channels]`.
    pub bytes: Vec<u8>,
}

/// Reads the picture at `path` in grey (1 channel) or colour (3). Transparency is dropped: colours are those that are stored.
pub fn read_picture(path: &Path, channels: usize) -> Result<Picture> {
    let at = |error: Error| error.at(path.display());
    let reader = reader(path)?;
    let (format, has_end) = look_for_end(path).map_err(|error| cannot_read(path, &error))?;
    if format == ImageFormat::Jpeg && !has_end {
        return Err(at(
            Error::new("the picture is cut short: it has no end").help("copy it again, or take it out of the folder")
        ));
    }
    let decoded = decode(reader, channels).map_err(|error| at(not_decoded(&error)))?;
    let (width, height) = (decoded.width() as usize, decoded.height() as usize);
    let bytes = match (channels, decoded.color().has_color()) {
        (1, true) => decoded.into_rgb8().as_chunks::<3>().0.iter().map(luma).collect(),
        (1, false) => decoded.into_luma8().into_raw(),
        _ => decoded.into_rgb8().into_raw(),
    };
    Ok(Picture { height, width, channels, bytes })
}

/// The brightness of a colour by Rec. 601 in fixed point, as Pillow and most others have it: 0.299, 0.587 and 0.114.
fn luma(&[red, green, blue]: &[u8; 3]) -> u8 {
    let sum = 19_595 * u32::from(red) + 38_470 * u32::from(green) + 7_471 * u32::from(blue);
    ((sum + (1 << 15)) >> 16) as u8
}

/// Decodes a picture whose pixels fit the memory that is allowed: as they are stored, and beside that in the channels that are
/// wanted where these are others.
fn decode(reader: ImageReader<BufReader<File>>, channels: usize) -> ImageResult<DynamicImage> {
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    let wanted = if channels == 1 { ColorType::L8 } else { ColorType::Rgb8 };
    // Colours become grey by way of three channels.
    let converted = if decoder.color_type() == wanted { 0 } else { 3 + channels as u64 };
    let mut limits = limits();
    limits.reserve(decoder.total_bytes())?;
    limits.clone().reserve(u64::from(width) * u64::from(height) * converted)?;
    decoder.set_limits(limits)?;
    DynamicImage::from_decoder(decoder)
}

/// Height and width of the picture at `path`, of which only the beginning is read.
pub fn picture_size(path: &Path) -> Result<(usize, usize)> {
    let size = reader(path)?.into_dimensions().map_err(|error| not_decoded(&error).at(path.display()))?;
    Ok((size.1 as usize, size.0 as usize))
}

fn reader(path: &Path) -> Result<ImageReader<BufReader<File>>> {
    check_is_file(path)?;
    let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
    let mut reader =
        ImageReader::new(BufReader::new(file)).with_guessed_format().map_err(|error| cannot_read(path, &error))?;
    if reader.format().is_none() {
        return Err(Error::new("is not a picture of a known format")
            .at(path.display())
            .help(format!("wanted one of {}", ENDINGS.join(", "))));
    }
    reader.limits(limits());
    Ok(reader)
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MOST_SIDE);
    limits.max_image_height = Some(MOST_SIDE);
    limits.max_alloc = Some(MOST_BYTES);
    limits
}

fn not_decoded(error: &ImageError) -> Error {
    let help = "the file may be cut short or damaged: copy it again, or take it out of the folder";
    match error {
        ImageError::Limits(_) => Error::new("the picture is too large")
            .help(format!("wanted at most {MOST_SIDE} pixels a side and {} MB in memory", MOST_BYTES >> 20)),
        // Decoders tell what they have found, which may be a list of thousands of numbers.
        _ => {
            let reason = error.to_string();
            Error::new(format!("the picture cannot be decoded: {}", shortened(&reason, MOST_LETTERS))).help(help)
        }
    }
}

/// All pictures of a folder and of its sub-folders, by their endings, in the order of their paths from the folder. Hidden
/// files and folders, and files that are no pictures, are passed over.
pub fn list_pictures(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    add_pictures(folder, MOST_DEPTH, &mut found)?;
    // By the bytes of the path below the folder, whatever order the file system has.
    found.sort_by(|one, other| one.as_os_str().as_encoded_bytes().cmp(other.as_os_str().as_encoded_bytes()));
    if found.is_empty() {
        return Err(Error::new(format!("{} holds no picture", folder.display()))
            .help(format!("wanted files that end in {}", ENDINGS.join(", "))));
    }
    Ok(found)
}

fn add_pictures(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(|error| cannot_read(folder, &error))?;
    for entry in entries {
        let path = entry.map_err(|error| cannot_read(folder, &error))?.path();
        if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) {
            continue;
        }
        if path.is_dir() {
            if depth > 0 && !leads_back(&path, folder) {
                add_pictures(&path, depth - 1, found)?;
            }
        } else if is_picture_name(&path) {
            found.push(path);
        }
    }
    Ok(())
}

/// Whether a folder is a link to the folder that it lies in, or to one above.
fn leads_back(path: &Path, folder: &Path) -> bool {
    path.is_symlink()
        && matches!((path.canonicalize(), folder.canonicalize()), (Ok(to), Ok(from)) if from.starts_with(&to))
}

/// Whether a file is taken for a picture, by its name.
pub fn is_picture_name(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

/// The largest square in the middle of a picture.
pub fn middle_square(picture: &Picture) -> Picture {
    let side = picture.height.min(picture.width);
    let (top, left) = ((picture.height - side) / 2, (picture.width - side) / 2);
    let (row_bytes, channels) = (picture.width * picture.channels, picture.channels);
    let rows = picture.bytes.chunks_exact(row_bytes).skip(top).take(side);
    let bytes = rows.flat_map(|row| &row[left * channels..(left + side) * channels]).copied().collect();
    Picture { height: side, width: side, channels, bytes }
}

#[cfg(test)]
mod tests {
    use image::{Rgba, RgbaImage};
    use tempfile::tempdir;

    use super::*;

    fn message<T: std::fmt::Debug>(found: Result<T>) -> String {
        found.unwrap_err().to_string()
    }

    #[test]
    fn transparency_is_dropped_and_grey_is_the_luma() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("a.png");
        RgbaImage::from_fn(2, 1, |x, _| Rgba([255 * x as u8, 0, 0, 7])).save(&path).unwrap();
        let colour = read_picture(&path, 3).unwrap();
        assert_eq!((colour.height, colour.width, colour.bytes), (1, 2, vec![0, 0, 0, 255, 0, 0]));
        // 0.299 * 255 is 76.2.
        assert_eq!(read_picture(&path, 1).unwrap().bytes, [0, 76]);
        assert_eq!(picture_size(&path).unwrap(), (1, 2));
    }

    #[test]
    fn pictures_are_found_in_the_order_of_their_paths() {
        let folder = tempdir().unwrap();
        for name in ["b/2.png", "b/10.JPG", "a.png", "notes.txt", ".hidden/c.png", "c/.d.png"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"").unwrap();
        }
        let found = list_pictures(folder.path()).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
        assert_eq!(names, ["a.png", "b/10.JPG", "b/2.png"].map(Path::new));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_back_is_not_followed() {
        let folder = tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::write(folder.path().join("a/1.png"), b"").unwrap();
        std::os::unix::fs::symlink(".", folder.path().join("all")).unwrap();
        std::os::unix::fs::symlink("..", folder.path().join("a/up")).unwrap();
        assert_eq!(list_pictures(folder.path()).unwrap().len(), 1);
    }

    #[test]
    fn a_jpeg_that_is_cut_short_is_an_error() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("a.jpg");
        image::RgbImage::from_fn(64, 64, |x, y| image::Rgb([x as u8 * 4, y as u8 * 4, 9])).save(&path).unwrap();
        read_picture(&path, 3).unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 100]).unwrap();
        assert!(message(read_picture(&path, 3)).contains("a.jpg: the picture is cut short"));
    }

    #[test]
    fn what_is_no_picture_says_so() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("a.png");
        assert!(message(list_pictures(folder.path())).contains("holds no picture"));
        assert!(message(list_pictures(&folder.path().join("none"))).starts_with("cannot read"));
        std::fs::write(&path, "some text").unwrap();
        assert!(message(read_picture(&path, 3)).contains("is not a picture of a known format"));
        RgbaImage::new(8, 8).save(&path).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for length in 8..whole.len() - 12 {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(message(read_picture(&path, 3)).contains("a.png: the picture cannot be decoded"), "{length}");
        }
    }

    #[test]
    fn a_picture_that_claims_to_be_huge_is_refused() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("a.ppm");
        std::fs::write(&path, "P6\n30000 30000\n255\nabc").unwrap();
        let found = message(read_picture(&path, 3));
        assert!(found.contains("too large"), "{found}");
    }

    #[test]
    fn the_middle_square_leaves_out_both_ends() {
        let picture = Picture { height: 1, width: 4, channels: 1, bytes: vec![1, 2, 3, 4] };
        assert_eq!(middle_square(&picture).bytes, [2]);
        let picture = Picture { height: 4, width: 2, channels: 1, bytes: (0..8).collect() };
        assert_eq!(middle_square(&picture).bytes, [2, 3, 4, 5]);
    }
}
