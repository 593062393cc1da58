//! Whether a file is the published one, by its MD5 where that is known.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use md5::{Digest, Md5};

use super::Recognised;
use crate::datasets::{self, DATASETS};
use crate::error::Result;
use crate::file_errors::cannot_read;

const PIECE_BYTES: usize = 1 << 20;

/// Whether a file or folder has a name of that which the dataset called `dataset` is published as.
pub(super) fn is_called(path: &Path, dataset: &str) -> bool {
    let published = datasets::find(dataset).ok().and_then(|entry| entry.published);
    published.is_some_and(|published| published.names.iter().any(|name| path.ends_with(name)))
}

/// Adds what the MD5 of a file tells that has the name of a published one.
pub(super) fn compare(path: &Path, recognised: &mut Recognised) -> Result<()> {
    for entry in DATASETS {
        let Some(published) = entry.published else { continue };
        let (true, Some(wanted)) = (is_called(path, entry.name), published.md5) else { continue };
        let found = md5_of(path)?;
        recognised.detail(if found == wanted {
            format!("MD5 {found}: this is the published file of dataset \"{}\"", entry.name)
        } else {
            format!("MD5 {found}: not the published file of dataset \"{}\", which has {wanted}", entry.name)
        });
    }
    Ok(())
}

/// The MD5 of a file, in hexadecimal digits.
fn md5_of(path: &Path) -> Result<String> {
    let at = |error: std::io::Error| cannot_read(path, &error);
    let mut file = File::open(path).map_err(at)?;
    let mut digest = Md5::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece).map_err(at)? {
            0 => break,
            n_read => digest.update(&piece[..n_read]),
        }
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn md5_is_that_of_the_standard() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        // RFC 1321, appendix A.5.
        for (text, wanted) in
            [("", "d41d8cd98f00b204e9800998ecf8427e"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0")]
        {
            std::fs::write(&path, text).unwrap();
            assert_eq!(md5_of(&path).unwrap(), wanted);
        }
    }

    #[test]
    fn a_file_that_is_called_like_a_published_one_is_compared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mpi3d_real.npz");
        std::fs::write(&path, "message digest").unwrap();
        let mut recognised = Recognised::new("a file");
        compare(&path, &mut recognised).unwrap();
        let wanted =
            "MD5 f96b697d7cb7938d525a2f31aaf161d0: not the published file of dataset \"mpi3d_real\", which has ";
        assert!(recognised.details[0].starts_with(wanted), "{:?}", recognised.details);
        let mut recognised = Recognised::new("a file");
        std::fs::rename(&path, folder.path().join("mine.npz")).unwrap();
        compare(&folder.path().join("mine.npz"), &mut recognised).unwrap();
        assert!(recognised.details.is_empty());
    }
}
