//! One picture. It is decoded, and has to have its end: decoders make do without.

use std::path::Path;

use super::Recognised;
use super::reads::{dataset, folder_of};
use crate::error::{Error, Result};
use crate::file_errors::cannot_read;
use crate::files::picture::{is_picture_name, read_picture};
use crate::files::picture_end::look_for_end;

pub(super) fn recognise(path: &Path) -> Recognised {
    let mut recognised = match check_picture(path) {
        Ok(Looked { format, width, height }) => {
            Recognised::new("a picture").with_detail(format!("{format}, {width} x {height} (width x height)"))
        }
        Err(error) => Recognised::new("a picture").checked(Err(error)),
    };
    if is_picture_name(path) {
        recognised.detail("read with all pictures of its folder");
        recognised.reads_it.extend(dataset("folder", &folder_of(path)));
    } else {
        recognised.detail("read as one of a folder where its name ends as that of a picture, like .png");
    }
    recognised
}

/// What a picture is.
pub(super) struct Looked {
    pub(super) format: String,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// Decodes a picture, and looks for its end.
pub(super) fn check_picture(path: &Path) -> Result<Looked> {
    let picture = read_picture(path, 3)?;
    let (format, has_end) = look_for_end(path).map_err(|error| cannot_read(path, &error))?;
    if !has_end {
        return Err(Error::new("the picture is cut short: it has no end")
            .at(path.display())
            .help("copy it again, or take it out of the folder"));
    }
    Ok(Looked { format: format!("{format:?}").to_lowercase(), width: picture.width, height: picture.height })
}
