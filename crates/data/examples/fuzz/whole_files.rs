//! The whole files that damaged ones are made of: those of `reference/datasets`, and smaller ones of the same kinds.

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use unbraid_data::npy::write_header;
use unbraid_data::{Rng, Seed};
use zip::ZipArchive;

use crate::mutations::Whole;
use crate::zip_container::of_members;

/// Larger members of archives are left out: small ones are read in less time.
const MOST_BYTES: usize = 2000;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/datasets")
}

fn fixture(name: &str) -> Vec<u8> {
    let path = fixtures().join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// An array of numpy with these bytes.
fn npy(descr: &str, shape: &[usize], values: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_header(&mut bytes, descr, shape).expect("memory takes all bytes");
    [bytes, values.to_vec()].concat()
}

/// Arrays of numpy.
pub fn arrays(rng: &mut Rng) -> Vec<Whole> {
    let mut wholes: Vec<Whole> =
        archives(rng).into_iter().flat_map(|archive| archive.members).map(|(_, bytes)| Whole::plain(bytes)).collect();
    wholes.extend(["falcor3d/train-rec.labels", "isaac3d/labels.npy"].map(|name| Whole::plain(fixture(name))));
    wholes
}

/// Archives of numpy, of which large arrays are left out.
pub fn archives(rng: &mut Rng) -> Vec<Whole> {
    let names = ["own_factors.npz", "own_text.npz", "own_continuous.npz", "own_text.expected.npz"];
    names.map(|name| archive_of(&fixture(name), MOST_BYTES, rng)).into()
}

/// An archive with those of its members that take at most `most_bytes`.
fn archive_of(bytes: &[u8], most_bytes: usize, rng: &mut Rng) -> Whole {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).expect("a whole archive");
    let mut members = Vec::new();
    for position in 0..archive.len() {
        let mut entry = archive.by_index(position).expect("a whole member");
        let mut member = Vec::new();
        entry.read_to_end(&mut member).expect("a whole member");
        if member.len() <= most_bytes {
            members.push((entry.name().to_string(), member));
        }
    }
    of_members(members, rng)
}

/// Archives as the dataset `npz` wants them, of six images of 2 x 3 pixels.
pub fn own_images(rng: &mut Rng) -> Vec<Whole> {
    let floats = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
    let wholes = |values: &[i64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
    let member = |name: &str, bytes: Vec<u8>| (format!("{name}.npy"), bytes);
    let bytes = member("images", npy("|u1", &[6, 2, 3], &[7; 36]));
    let halves = member("images", npy("<f8", &[6, 2, 1, 3], &floats(&[0.5; 36])));
    let bits = member("images", npy("|b1", &[6, 2, 3, 1], &[1; 36]));
    let grid = member("factors", npy("<i8", &[6, 2], &wholes(&[0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2])));
    let angles = member("factors", npy("<f8", &[6, 1], &floats(&[0.1, 0.2, 0.5, 0.3, 0.9, 0.0])));
    let texts = member("factors", npy("|S2", &[6], b"aabbccaabbcc"));
    let sizes = member("factor_sizes", npy("<i8", &[2], &wholes(&[2, 3])));
    let names = member("factor_names", npy("|S1", &[2], b"xy"));
    [
        vec![bytes.clone()],
        vec![bytes.clone(), grid.clone()],
        vec![halves, grid, sizes, names],
        vec![bits, angles],
        vec![bytes, texts],
    ]
    .map(|members| of_members(members, rng))
    .into()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory takes all bytes");
    encoder.finish().expect("memory takes all bytes")
}

/// The bytes plain, and gzipped with the bytes as the only member.
fn plain_and_gzipped(bytes: Vec<u8>) -> [Whole; 2] {
    let members = vec![(String::new(), bytes.clone())];
    let wrap =
        |members: &[(String, Vec<u8>)], _: &mut Rng| members.first().map_or(Vec::new(), |(_, bytes)| gzipped(bytes));
    [Whole { bytes: gzipped(&bytes), members, wrap }, Whole::plain(bytes)]
}

/// idx files, plain and gzipped.
pub fn digits() -> Vec<Whole> {
    let images = [&[0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6][..], &[9; 120]].concat();
    let labels = fixture("mnist_raw/train-labels-idx1-ubyte");
    let published = Whole::plain(fixture("mnist/t10k-labels-idx1-ubyte.gz"));
    [images, labels].into_iter().flat_map(plain_and_gzipped).chain([published]).collect()
}

/// Matrices of SmallNORB, plain and gzipped.
pub fn matrices() -> Vec<Whole> {
    let images =
        [0x1e3d_4c55_u32, 4, 3, 2, 4, 5].iter().flat_map(|number| number.to_le_bytes()).chain([8; 120]).collect();
    let infos = [0x1e3d_4c54_u32, 2, 3, 4, 1].into_iter().chain(0..12).flat_map(u32::to_le_bytes).collect();
    let published = ["cat", "info"].map(|kind| {
        Whole::plain(fixture(&format!("smallnorb/smallnorb-5x46789x9x18x6x2x96x96-training-{kind}.mat.gz")))
    });
    [images, infos].into_iter().flat_map(plain_and_gzipped).chain(published).collect()
}

/// MAT-files of one small variable, plain and compressed, beside those of Cars3D.
pub fn variables() -> Vec<Whole> {
    let element = |kind: u32, bytes: &[u8]| {
        let padding = vec![0; bytes.len().next_multiple_of(8) - bytes.len()];
        [&kind.to_le_bytes()[..], &(bytes.len() as u32).to_le_bytes(), bytes, &padding].concat()
    };
    let words = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let variable = |name: &[u8]| {
        let parts =
            [element(6, &words(&[9, 0])), element(5, &words(&[2, 3, 1, 2, 2])), element(1, name), element(2, &[5; 24])];
        element(14, &parts.concat())
    };
    let header = fixture("cars3d/car_002_mesh.mat")[..128].to_vec();
    let both = [variable(b"mask"), variable(b"im")].concat();
    let wrap = |members: &[(String, Vec<u8>)], _: &mut Rng| {
        let (header, variables) = (&members[0].1, members.iter().skip(1));
        variables.fold(header.clone(), |file, (_, variable)| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(variable).expect("memory takes all bytes");
            let packed = encoder.finish().expect("memory takes all bytes");
            [&file[..], &15_u32.to_le_bytes(), &(packed.len() as u32).to_le_bytes(), &packed].concat()
        })
    };
    let members: Vec<(String, Vec<u8>)> =
        [header.clone(), variable(b"mask"), variable(b"im")].map(|bytes| (String::new(), bytes)).into();
    let compressed = Whole { bytes: wrap(&members, &mut Seed(0).stream("none")), members, wrap };
    vec![Whole::plain([header, both].concat()), compressed]
}

/// HDF5 files of both formats, in one piece and in chunks.
pub fn hdf5_files() -> Vec<Whole> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/hdf5");
    let read = |name: &str| Whole::plain(std::fs::read(folder.join(name)).expect("the files are there"));
    ["earliest.h5", "latest.h5", "v110.h5", "compact.h5", "ordered.h5"].map(read).into()
}

/// Pictures of every format.
pub fn pictures() -> Vec<Whole> {
    let mut paths: Vec<PathBuf> = ["cat", "dog"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(fixtures().join("folder").join(folder)).expect("the pictures are there"))
        .map(|entry| entry.expect("the pictures are there").path())
        .collect();
    paths.sort();
    let mut wholes: Vec<Whole> =
        paths.iter().map(|path| Whole::plain(std::fs::read(path).expect("the pictures are there"))).collect();
    wholes.extend([b"P6\n3 2\n255\nabcabcabcabcabcabc".to_vec(), b"P1\n3 2\n010 110\n".to_vec()].map(Whole::plain));
    wholes
}

/// Tables of the factors of three pictures.
pub fn factor_tables() -> Vec<Whole> {
    let tables = [
        "file,angle,colour\ncat/one.png,0.5,red\ncat/two.png,1,green\ndog/one.bmp,2,red\n",
        "size,file\r\n1,dog/one.bmp\r\n2,\"cat/one.png\"\r\n3,cat\\two.png\r\n",
    ];
    tables.map(|text| Whole::plain(text.as_bytes().to_vec())).into()
}
