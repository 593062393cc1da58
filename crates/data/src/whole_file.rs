//! Files that are either the old one or the new one, never half of either, however the program ends.
//!
//! The bytes go to a temporary file in the same folder, are forced to disk, and take the final name in one step.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;
use crate::file_errors::{cannot_create, cannot_read, cannot_write};

/// Temporary files that this process has begun.
static N_TEMPORARY: AtomicU64 = AtomicU64::new(0);

/// Puts `bytes` at `path`, in place of what was there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write_whole_with(path, |writer| writer.write_all(bytes))
}

/// Puts at `path` what `fill` writes, in place of what was there. Where `fill` fails, the old file stays; an error of ours that
/// it wraps ([`io::Error::other`]) is told as it is.
pub fn write_whole_with(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<()> {
    // A link keeps pointing where it did: it is the file behind it that is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let written = match fs::metadata(&target) {
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        // Pipes and devices such as /dev/stdout cannot be replaced, only written to.
        Ok(found) if !found.is_file() => File::create(&target).and_then(|file| fill_file(file, fill)),
        _ => replace(&target, fill),
    };
    written.map_err(|error| cannot_write(path, &error))
}

/// Puts `bytes` at `path`, where nothing may be yet. Of several processes that try at once, one succeeds.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    // Unlike a rename, a link never takes the place of a file.
    put_new(path, bytes, |temporary| fs::hard_link(temporary, path)).map_err(|error| cannot_write(path, &error))
}

/// The bytes at `path`.
pub fn read_whole(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| cannot_read(path, &error))
}

/// The text at `path`.
pub fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| cannot_read(path, &error))
}

/// Makes the folder and those above it, where they are not there yet.
pub fn create_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| cannot_create(path, &error))
}

/// Whether `name` is one that a write in progress gives its temporary file.
pub fn is_temporary_name(name: &str) -> bool {
    let process = name.rsplit_once(".tmp-").map(|(_, process)| process);
    name.starts_with('.')
        && process.is_some_and(|process| !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit()))
}

fn replace(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let temporary = temporary_path(path)?;
    let moved =
        File::create(&temporary).and_then(|file| fill_file(file, fill)).and_then(|()| fs::rename(&temporary, path));
    if moved.is_err() {
        // The first error is the one to report; that there may be nothing to remove is no other.
        let _ = fs::remove_file(&temporary);
        return moved;
    }
    // The new name also has to reach the disk. Some file systems cannot promise it, and the file is whole either way.
    if let Some(folder) = path.parent() {
        let _ = File::open(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
            .and_then(|folder| folder.sync_all());
    }
    Ok(())
}

fn put_new(path: &Path, bytes: &[u8], link: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let temporary = temporary_path(path)?;
    let written = File::create(&temporary).and_then(|file| fill_file(file, |writer| writer.write_all(bytes)));
    let put = written.and_then(|()| match link(&temporary) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => put_new_without_links(&temporary, path),
        linked => linked,
    });
    let _ = fs::remove_file(&temporary);
    put
}

/// For disks that know no links, such as those with exFAT: an empty file takes the name, which only one process can do, and
/// the whole one replaces it. A kill between the two leaves the empty file.
fn put_new_without_links(temporary: &Path, path: &Path) -> io::Result<()> {
    File::create_new(path)?;
    let moved = fs::rename(temporary, path);
    if moved.is_err() {
        let _ = fs::remove_file(path);
    }
    moved
}

fn fill_file(file: File, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let is_regular = file.metadata()?.is_file();
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    fill(&mut writer)?;
    let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    if is_regular { file.sync_all() } else { Ok(()) }
}

fn temporary_path(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::IsADirectory)?.to_string_lossy();
    // Two threads may write to one file at once.
    let number = N_TEMPORARY.fetch_add(1, Ordering::Relaxed);
    Ok(path.with_file_name(format!(".{name}.tmp-{}{number:06}", std::process::id())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_written_file_replaces_the_old_one_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_whole(&path, b"old").unwrap();
        write_whole(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names_in(folder.path()), ["a.txt"]);
    }

    #[test]
    fn a_write_that_fails_half_way_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_whole(&path, b"old").unwrap();
        let error = write_whole_with(&path, |writer| {
            writer.write_all(b"half")?;
            Err(ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        let expected = format!(
            "cannot write {}: no space left on the disk\n       free some space, or choose a place on another disk",
            path.display()
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names_in(folder.path()), ["a.txt"]);
    }

    #[test]
    fn folders_and_missing_folders_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_whole(folder.path(), b"").unwrap_err().to_string();
        assert!(error.contains("it is a folder\n       give the path of a file"), "{error}");
        let error = write_whole(&folder.path().join("none/a.txt"), b"").unwrap_err().to_string();
        assert!(error.contains("there is no such file or folder\n       create the folder first: mkdir -p"), "{error}");
        assert_eq!(names_in(folder.path()), [""; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_to_and_a_link_is_followed() {
        write_whole(Path::new("/dev/null"), b"away").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn on_a_disk_without_links_a_new_file_appears_whole_and_takes_no_files_place() {
        let no_links = |_: &Path| Err(io::Error::from(ErrorKind::PermissionDenied));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        put_new(&path, b"first", no_links).unwrap();
        let second = put_new(&path, b"second", no_links).unwrap_err();
        assert_eq!(second.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(names_in(folder.path()), ["a.txt"]);
        // What is wrong with the place itself is still told.
        let missing = put_new(&folder.path().join("none/a.txt"), b"", no_links).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn of_many_that_put_a_new_file_without_links_one_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..50 {
            let path = folder.path().join(format!("{round}.txt"));
            let put = |name: String| {
                let temporary = folder.path().join(format!(".{round}-{name}"));
                fs::write(&temporary, &name).unwrap();
                put_new_without_links(&temporary, &path).map(|()| name)
            };
            let names: Vec<String> = std::thread::scope(|scope| {
                let put = &put;
                let threads: Vec<_> =
                    (0..4).map(|number: usize| scope.spawn(move || put(number.to_string()))).collect();
                threads.into_iter().filter_map(|thread| thread.join().unwrap().ok()).collect()
            });
            assert_eq!(names.len(), 1, "{names:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), names[0]);
        }
    }
}
