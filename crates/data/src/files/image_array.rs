//! Images as an array of an `.npz` file: read where they lie where they are stored plainly, else unpacked once.

use std::io::{Read, Write};
use std::path::Path;

use crate::datasets::ImageShape;
use crate::error::{Error, Result};
use crate::files::npz::Npz;
use crate::files::store::{MOST_IN_MEMORY, Packed, Store, not_unpacked};
use crate::files::stored::Pixels;
use crate::files::watched_file::WatchedFile;
use crate::npy::{Announced, Kind, NpyArray, unreadable};

/// A side or a number of channels above this is no image.
const MOST_SIDE: usize = 1 << 15;
/// Bytes that are read, converted and written at once.
const PIECE: usize = 1 << 20;

/// Images of one shape.
pub struct ImageArray {
    /// How many there are.
    pub n_images: usize,
    /// The shape of each.
    pub image_shape: ImageShape,
    /// What their bytes are.
    pub pixels: Pixels,
    /// Where they lie.
    pub store: Store,
}

/// The array called `name` of the file at `path`: `[n, height, width]` or `[n, height, width, channels]`, bytes or floats in
/// [0, 1]. Floats of points in space, which have height and width 1, may be any. The file is read to its end where it is
/// compressed or holds other numbers than bytes.
pub fn open_images(path: &Path, npz: &mut Npz, name: &str) -> Result<ImageArray> {
    let at = |error: Error| error.at(format!("array \"{name}\"")).at(path.display());
    let announced = npz.announced(name).map_err(|error| error.at(path.display()))?;
    let announced = announced.ok_or_else(|| npz.lacks(name).at(path.display()))?;
    let (n_images, image_shape) = images_of_shape(&announced.shape).map_err(at)?;
    let pixels = pixels_of(&announced, image_shape).map_err(at)?;
    let item_bytes = image_shape.n_pixels() * pixels.n_bytes();
    let values_at = npz.values_at(name).map_err(|error| error.at(path.display()))?;
    if let (true, Some(start), Pixels::Bytes) = (announced.is_plain, values_at, pixels) {
        let file = WatchedFile::open(path)?;
        let end = start.saturating_add(n_images as u64 * item_bytes as u64);
        if file.n_bytes() < end {
            return Err(at(Error::new(format!("it ends at byte {end}, but the file has {}", file.n_bytes()))
                .help("the file is cut short: copy it again")));
        }
        let store = Store::in_file(file, start, item_bytes);
        return Ok(ImageArray { n_images, image_shape, pixels, store });
    }
    let packed = Packed { path, part: name, state: String::new(), n_items: n_images, item_bytes };
    if !announced.is_plain && n_images as u64 * item_bytes as u64 > MOST_IN_MEMORY {
        return Err(at(Error::new(
            "is stored column by column, or in foreign byte order, and is too large to be turned",
        )
        .help("save numpy.ascontiguousarray(images), in the machine's own byte order")));
    }
    let store = packed.unpack(|writer| {
        if !announced.is_plain {
            let array = npz.required(name).map_err(|error| error.at(path.display()))?;
            return write_turned(array, pixels, writer).map_err(at);
        }
        let unpacked = npz.values(name, |announced, reader| write_values(announced, pixels, reader, writer));
        unpacked.map_err(|error| error.at(path.display()))?.ok_or_else(|| Error::new("the array is gone"))
    })?;
    Ok(ImageArray { n_images, image_shape, pixels, store })
}

/// How many images an array of this shape holds, and of which shape.
pub fn images_of_shape(shape: &[usize]) -> Result<(usize, ImageShape)> {
    let (n_images, image_shape) = match *shape {
        [n_images, height, width] => (n_images, ImageShape { height, width, channels: 1 }),
        [n_images, height, width, channels] => (n_images, ImageShape { height, width, channels }),
        _ => {
            return Err(Error::new(format!(
                "wanted images of shape [n, height, width] or [n, height, width, channels], found {shape:?}"
            )));
        }
    };
    let ImageShape { height, width, channels } = image_shape;
    if n_images == 0 || [height, width, channels].iter().any(|side| !(1..=MOST_SIDE).contains(side)) {
        return Err(Error::new(format!(
            "wanted at least one image with sides of 1 to {MOST_SIDE}, found shape {shape:?}"
        )));
    }
    if ![1, 3].contains(&channels) && (height, width) != (1, 1) {
        return Err(Error::new(format!("wanted the channels last, 1 or 3 of them, found shape {shape:?}"))
            .help("in numpy, images.transpose(0, 2, 3, 1) puts them last, and images[..., :3] leaves opacity out"));
    }
    Ok((n_images, image_shape))
}

/// What the values of an array are as pixels of images of this shape.
pub(super) fn pixels_of(announced: &Announced, shape: ImageShape) -> Result<Pixels> {
    match (announced.kind, announced.item_bytes) {
        (Kind::Unsigned, 1) => Ok(Pixels::Bytes),
        (Kind::Bool, _) => Ok(Pixels::Bits),
        (Kind::Float, _) if (shape.height, shape.width) == (1, 1) => Ok(Pixels::Floats),
        (Kind::Float, _) => Ok(Pixels::UnitFloats),
        (kind, n_bytes) => {
            let found = match kind {
                Kind::Signed | Kind::Unsigned => format!("whole numbers of {n_bytes} bytes"),
                _ => "text".to_string(),
            };
            Err(Error::new(format!("wanted bytes (uint8) or floats in [0, 1], found {found}"))
                .help("in numpy, images.astype(numpy.uint8) where they are 0 to 255"))
        }
    }
}

/// Writes all values as a store holds them: bytes as they are, floats in 32 bits, their least byte first.
fn write_values(announced: &Announced, pixels: Pixels, reader: &mut dyn Read, writer: &mut dyn Write) -> Result<()> {
    let n_bytes = announced.shape.iter().product::<usize>() * announced.item_bytes;
    let mut left = n_bytes;
    let mut piece = vec![0; PIECE.min(n_bytes)];
    while left > 0 {
        let filled = &mut piece[..left.min(PIECE)];
        reader.read_exact(filled).map_err(unreadable)?;
        left -= filled.len();
        match pixels {
            Pixels::Bytes | Pixels::Bits => writer.write_all(filled).map_err(|error| not_unpacked(&error))?,
            Pixels::UnitFloats | Pixels::Floats => write_floats(filled, announced.item_bytes, pixels, writer)?,
        }
    }
    // At its end the archive compares the checksum.
    match reader.read(&mut [0]).map_err(unreadable)? {
        0 => Ok(()),
        _ => Err(Error::new("more bytes follow than were announced").help("the file may be damaged: save it again")),
    }
}

/// The same for values in another order, which are turned in memory.
fn write_turned(array: NpyArray, pixels: Pixels, writer: &mut dyn Write) -> Result<()> {
    match pixels {
        Pixels::Bytes | Pixels::Bits => writer.write_all(&array.into_u8()?).map_err(|error| not_unpacked(&error)),
        Pixels::UnitFloats | Pixels::Floats => {
            let values: Vec<u8> = array.to_f64()?.into_iter().flat_map(f64::to_le_bytes).collect();
            write_floats(&values, 8, pixels, writer)
        }
    }
}

fn write_floats(bytes: &[u8], item_bytes: usize, pixels: Pixels, writer: &mut dyn Write) -> Result<()> {
    let mut converted = Vec::with_capacity(bytes.len() / item_bytes * 4);
    for item in bytes.chunks_exact(item_bytes) {
        let value = crate::npy::float(item);
        let is_taken = if pixels == Pixels::UnitFloats { (0.0..=1.0).contains(&value) } else { value.is_finite() };
        if !is_taken {
            return Err(Error::new(format!("holds {value}")).help(match pixels {
                Pixels::UnitFloats => "wanted numbers from 0 to 1: divide by 255, or save bytes (uint8)",
                _ => "wanted finite numbers",
            }));
        }
        converted.extend((value as f32).to_le_bytes());
    }
    writer.write_all(&converted).map_err(|error| not_unpacked(&error))
}
