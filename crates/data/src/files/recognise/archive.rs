//! Zip archives, of which `.npz` files are made. Every member is read to its end, where its checksum is compared.

use std::io::{self, Read};
use std::path::Path;

use super::published::is_called;
use super::reads::{add_evaluate, dataset};
use super::{Recognised, first_line};
use crate::error::{Error, Result};
use crate::files::image_array::{images_of_shape, pixels_of};
use crate::files::mpi3d;
use crate::files::npz::Npz;
use crate::npy::{Announced, MAGIC, is_of_another_type, unreadable};
use crate::words::counted;

/// The description of an array fits these bytes of a member.
const HEAD_BYTES: u64 = 1 << 14;
/// Members that are listed.
const MOST_LISTED: usize = 40;
/// Images of MPI3D with complex objects.
const N_COMPLEX: usize = 460_800;

pub(super) fn recognise(path: &Path) -> Recognised {
    let mut npz = match Npz::open(path) {
        Ok(npz) => npz,
        Err(error) => return Recognised::new("a zip archive, as .npz files are").checked(Err(error)),
    };
    let mut members = Members::default();
    for index in 0..npz.archive().len() {
        members.look_at(&mut npz, index);
    }
    let mut recognised = members.recognised(path);
    if let Some(error) = members.broken {
        recognised.broken(error.at(path.display()));
    }
    recognised
}

/// What there is in an archive.
#[derive(Default)]
struct Members {
    arrays: Vec<(String, Announced)>,
    n_others: usize,
    lines: Vec<String>,
    /// The first member that is broken, and how.
    broken: Option<Error>,
}

impl Members {
    fn look_at(&mut self, npz: &mut Npz, index: usize) {
        let mut name = format!("member {index}");
        let line = match read_member(npz, index, &mut name) {
            Ok(Member::Array(announced)) => {
                let line = format!("{name}: {} {:?}", announced.type_name(), announced.shape);
                self.arrays.push((name, announced));
                line
            }
            Ok(Member::Other(why)) => {
                self.n_others += 1;
                format!("{name}: passed over, {why}")
            }
            Err(error) => {
                self.broken.get_or_insert(error.at(format!("array \"{name}\"")));
                format!("{name}: broken")
            }
        };
        self.lines.push(line);
    }

    fn array(&self, name: &str) -> Option<&Announced> {
        self.arrays.iter().find(|(found, _)| found == name).map(|(_, announced)| announced)
    }

    fn recognised(&self, path: &Path) -> Recognised {
        if self.arrays.is_empty() {
            let what =
                if self.lines.is_empty() { "an empty zip archive" } else { "a zip archive without arrays of numpy" };
            return listed(Recognised::new(what), &self.lines)
                .with_detail("to be unpacked: what is inside is not read from here");
        }
        if self.array("imgs").is_some() && self.array("latents_classes").is_some() {
            return listed(Recognised::new("the sprites of dSprites (.npz)"), &self.lines)
                .read_by(dataset("dsprites", path));
        }
        let what = match (self.array("images"), self.array("codes")) {
            (Some(_), _) => "images in an archive of numpy (.npz)",
            (None, Some(_)) => "codes in an archive of numpy (.npz)",
            (None, None) => "an archive of numpy (.npz)",
        };
        let mut recognised = listed(Recognised::new(what), &self.lines);
        if let Some(images) = self.array("images") {
            match self.n_images(images) {
                Ok(n_images) => add_datasets(&mut recognised, path, n_images, self.array("factors").is_some()),
                Err(error) => recognised.broken(error.at(path.display())),
            }
        }
        match (self.array("codes"), self.array("factors")) {
            (Some(_), Some(_)) => add_evaluate(&mut recognised, path, &["npz"], ""),
            (Some(_), None) => recognised.detail("`unbraid evaluate` wants an array factors beside codes"),
            (None, _) if recognised.reads_it.is_empty() && recognised.is_whole.is_ok() => {
                recognised.detail("datasets want an array images, `unbraid evaluate` wants codes and factors");
            }
            _ => (),
        }
        recognised
    }

    /// How many images there are, where they can be read and fit their factors.
    fn n_images(&self, images: &Announced) -> Result<usize> {
        let at = |error: Error| error.at("array \"images\"");
        let (n_images, shape) = images_of_shape(&images.shape).map_err(at)?;
        pixels_of(images, shape).map_err(at)?;
        match self.array("factors").and_then(|factors| factors.shape.first().copied()) {
            Some(n_rows) if n_rows != n_images => {
                let found = format!("there are {} of factors, but {n_images} images", counted(n_rows, "row"));
                Err(Error::new(found).help("give each image a row of factors, or leave the factors out"))
            }
            _ => Ok(n_images),
        }
    }
}

/// Adds the lines of the arrays, as many as anyone reads.
fn listed(mut recognised: Recognised, lines: &[String]) -> Recognised {
    recognised.details.extend(lines.iter().take(MOST_LISTED).cloned());
    if lines.len() > MOST_LISTED {
        recognised.detail(format!("and {} more", lines.len() - MOST_LISTED));
    }
    recognised
}

/// Adds the datasets that read images of this number.
fn add_datasets(recognised: &mut Recognised, path: &Path, n_images: usize, has_factors: bool) {
    let n_published: usize = mpi3d::SIZES.iter().product();
    let names: &[&str] = match n_images {
        _ if has_factors => &["npz"],
        N_COMPLEX => &["mpi3d_complex"],
        n if n == n_published => &["mpi3d_toy", "mpi3d_realistic", "mpi3d_real"],
        _ => &["npz"],
    };
    if names != ["npz"] {
        recognised.what = "images of MPI3D (.npz)".to_string();
    }
    // Three of them have the same form, and only the name of the file tells them apart.
    let called_so: Vec<&str> = names.iter().copied().filter(|name| is_called(path, name)).collect();
    let names = if called_so.is_empty() { names } else { &called_so };
    if names.len() > 1 {
        recognised.detail(format!("these have the same form, and the images tell which it is: {}", names.join(", ")));
    }
    recognised.reads_it.extend(names.iter().filter_map(|name| dataset(name, path)));
}

enum Member {
    Array(Announced),
    /// With why it is passed over.
    Other(String),
}

/// Reads a member to its end, and puts its name into `name`.
fn read_member(npz: &mut Npz, index: usize, name: &mut String) -> Result<Member> {
    let mut member = npz.archive().by_index(index).map_err(|error| Error::new(format!("cannot be read: {error}")))?;
    *name = member.name().strip_suffix(".npy").unwrap_or(member.name()).to_string();
    if member.is_dir() {
        return Ok(Member::Other("a folder".to_string()));
    }
    let n_bytes = member.size();
    let mut head = Vec::new();
    member.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(unreadable)?;
    let n_rest = io::copy(&mut member, &mut io::sink()).map_err(unreadable)?;
    if head.len() as u64 + n_rest != n_bytes {
        return Err(Error::new(format!(
            "{n_bytes} bytes were announced, but {} are there",
            head.len() as u64 + n_rest
        ))
        .help("the file is damaged: copy or save it again"));
    }
    match Announced::read(head.as_slice(), n_bytes) {
        Ok(announced) => Ok(Member::Array(announced)),
        Err(error) if is_of_another_type(head.as_slice()) || !head.starts_with(MAGIC) => {
            Ok(Member::Other(first_line(&error)))
        }
        Err(error) => Err(error),
    }
}
