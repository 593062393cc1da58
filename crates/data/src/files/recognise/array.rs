//! `.npy` files: one array of numpy.

use std::io::BufReader;
use std::path::Path;

use super::Recognised;
use super::reads::{add_evaluate, command};
use crate::files::image_array::{images_of_shape, pixels_of};
use crate::npy::{Announced, Kind, is_of_another_type, open_file, read_announced};

pub(super) fn recognise(path: &Path) -> Recognised {
    let recognised = Recognised::new("an array of numpy (.npy)");
    // The length of the file is compared with the shape, and there are no checksums.
    match read_announced(path) {
        Ok(announced) => described(recognised, path, &announced),
        Err(_) if open_file(path).is_ok_and(|(file, _)| is_of_another_type(BufReader::new(file))) => recognised
            .with_detail("of a type that is not read: pickled objects, named fields, complex numbers or the like"),
        Err(error) => recognised.checked(Err(error)),
    }
}

fn described(mut recognised: Recognised, path: &Path, array: &Announced) -> Recognised {
    recognised.detail(format!("{} {:?}", array.type_name(), array.shape));
    let is_text = matches!(array.kind, Kind::Unicode | Kind::Bytes);
    match *array.shape.as_slice() {
        [_, _] if is_text => recognised.detail("factors of text, as `unbraid evaluate CODES.npy --factors` takes them"),
        [_, _] => {
            recognised.detail("as codes, or as the factors of others: --factors, which is an .npy file, too");
            add_evaluate(&mut recognised, path, &["npy"], " --factors FACTORS.npy");
        }
        [_] if matches!(array.kind, Kind::Signed | Kind::Unsigned) => {
            recognised.detail("as numbers of images");
            recognised.reads_it.push(command("unbraid data export DATASET FILE.npz --indices {}", path));
        }
        _ => {
            let images = images_of_shape(&array.shape).and_then(|(_, shape)| pixels_of(array, shape));
            if images.is_ok() {
                recognised.detail("images of one's own are read from .npz: numpy.savez(\"mine.npz\", images=array)");
            }
        }
    }
    recognised
}
