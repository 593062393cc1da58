//! Broken files of arrays are refused with one error that names the file and what is wrong in it; no size that a file claims
//! takes memory. Broken folders are in `broken_folders.rs`.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod copied;

use std::io::{Read, Write};
use std::time::Duration;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::{DeflateEncoder, GzEncoder};
use zip::CompressionMethod;

use copied::{Array, Copied, claiming, npy, npz, npz_by, peak_memory};

const MPI3D: &str = "factor_sizes = [2, 2, 1, 1, 2, 3, 3]";
const IMAGES: &str = "train-images-idx3-ubyte";
const LABELS: &str = "train-labels-idx1-ubyte";
const NORB: &str = "smallnorb-5x46789x9x18x6x2x96x96-training";

fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut inflated = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut inflated).unwrap();
    inflated
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An `.npz` of one's own, and what is said of it.
#[track_caller]
fn own(arrays: &[Array], words: &[&str]) {
    Copied::file("own.npz", &npz(arrays)).refused("npz", "", "", words);
    Copied::file("own.npz", &npz_by(arrays, CompressionMethod::Deflated)).refused("npz", "", "", words);
}

fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn wholes(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Two images of 2 x 3 bytes.
fn two_images() -> Array<'static> {
    ("images", "|u1", &[2, 2, 3], vec![7; 12])
}

#[test]
fn archives_that_are_cut_short_are_refused() {
    for (name, dataset, settings) in [
        ("mpi3d.npz", "mpi3d_toy", MPI3D),
        ("mpi3d_compressed.npz", "mpi3d_toy", MPI3D),
        ("own_factors.npz", "npz", ""),
    ] {
        let file = Copied::of(name);
        let whole = file.bytes("");
        for n_bytes in [0, 1, 21, 300, whole.len() / 2, whole.len() - 30, whole.len() - 1] {
            file.write("", &whole[..n_bytes]);
            file.refused(dataset, settings, "", &["copy it again"]);
        }
        file.write("", b"\x89HDF\r\n\x1a\n and so on, but no archive");
        file.refused(dataset, settings, "", &["is not a whole .npz file"]);
    }
}

#[test]
fn a_wrong_checksum_is_found_where_all_bytes_are_read() {
    let file = Copied::of("mpi3d_compressed.npz");
    let mut bytes = file.bytes("");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    file.write("", &bytes);
    file.refused("mpi3d_toy", MPI3D, "", &["array \"images\"", "is cut short or damaged"]);
}

#[test]
fn archives_of_another_shape_or_count_are_refused() {
    let file = Copied::of("mpi3d.npz");
    file.refused("mpi3d_toy", "", "", &["array \"images\" has 72 images, wanted 1036800", "factor_sizes"]);
    let sizes = "factor_sizes = [2, 2, 1, 1, 2, 3, 4]";
    file.refused("mpi3d_toy", sizes, "", &["has 72 images, wanted 96", "vertical_axis 4"]);
    for sizes in ["[2, 2]", "[]", "[2, 2, 1, 1, 2, 3, 0]", "[4294967296, 4294967296, 1, 1, 2, 3, 3]"] {
        let error = file.opened("mpi3d_toy", &format!("factor_sizes = {sizes}")).err().unwrap().to_string();
        assert!(error.contains("setting \"factor_sizes\" is [") && error.contains("wanted 7 whole numbers"), "{error}");
    }
    Copied::of("own_text.npz").refused("mpi3d_toy", MPI3D, "", &["array \"images\" has 12 images, wanted 72"]);
    let floats = npz(&[("images", "<f4", &[72, 1, 2], vec![0; 576])]);
    Copied::file("a.npz", &floats).refused("mpi3d_toy", MPI3D, "", &["array \"images\"", "of bytes"]);
}

#[test]
fn ones_own_arrays_have_to_be_images() {
    own(&[("image", "|u1", &[2, 2, 3], vec![7; 12])], &["there is no array \"images\"; found image"]);
    own(&[("images", "|u1", &[12], vec![7; 12])], &["array \"images\"", "[n, height, width]", "found [12]"]);
    own(&[("images", "|u1", &[0, 2, 3], vec![])], &["array \"images\"", "at least one image", "[0, 2, 3]"]);
    own(&[("images", "|u1", &[2, 0, 3], vec![])], &["array \"images\"", "[2, 0, 3]"]);
    own(&[("images", "|u1", &[2, 3, 8, 8], vec![7; 384])], &["the channels last", "images.transpose(0, 2, 3, 1)"]);
    own(&[("images", "<u2", &[1, 1, 2], vec![44, 1, 0, 0])], &["array \"images\"", "whole numbers of 2 bytes"]);
    own(&[("images", "<U1", &[1, 1, 1], vec![65, 0, 0, 0])], &["array \"images\"", "found text"]);
    for (value, said) in [(f64::NAN, "holds NaN"), (300.0, "holds 300"), (-0.5, "holds -0.5"), (f64::INFINITY, "inf")] {
        own(&[("images", "<f8", &[1, 2, 1], floats(&[0.5, value]))], &["array \"images\"", said, "from 0 to 1"]);
        let turned: Vec<u8> = [0.5, value].iter().flat_map(|value| value.to_be_bytes()).collect();
        own(&[("images", ">f8", &[1, 2, 1], turned)], &["array \"images\"", said, "from 0 to 1"]);
    }
    own(&[("images", "<f8", &[2, 1, 1, 1], floats(&[0.5, f64::NAN]))], &["holds NaN", "finite numbers"]);
}

#[test]
fn ones_own_factors_have_to_fit() {
    let factors = ("factors", "<i8", [2, 2].as_slice(), wholes(&[0, 1, 1, 0]));
    let three = ("factors", "<i8", [3, 1].as_slice(), wholes(&[0, 1, 2]));
    own(&[two_images(), three], &["3 rows of factors", "2 images"]);
    let table = ("factors", "<i8", [2, 1, 1].as_slice(), wholes(&[0, 1]));
    own(&[two_images(), table], &["array \"factors\"", "two axes", "[2, 1, 1]"]);
    let sizes = |shape: &'static [usize], values: &[i64]| ("factor_sizes", "<i8", shape, wholes(values));
    own(&[two_images(), factors.clone(), sizes(&[1], &[2])], &["factor_sizes has 1 entry", "2 columns"]);
    own(&[two_images(), factors.clone(), sizes(&[2, 1], &[2, 2])], &["array \"factor_sizes\"", "[2, 1]"]);
    own(&[two_images(), factors.clone(), sizes(&[2], &[2, -2])], &["array \"factor_sizes\"", "found -2"]);
    own(&[two_images(), factors.clone(), sizes(&[2], &[2, 1])], &["factor \"factor_1\" is 1 at row 0", "0 to 0"]);
    own(&[two_images(), factors.clone(), sizes(&[2], &[2, 1 << 50])], &["\"factor_1\" would take 1125899906842624"]);
    let names = ("factor_names", "|S1", [2].as_slice(), b"xx".to_vec());
    own(&[two_images(), factors.clone(), names], &["two factors are called \"x\""]);
    let names = ("factor_names", "<i8", [2].as_slice(), wholes(&[1, 2]));
    own(&[two_images(), factors, names], &["array \"factor_names\"", "wanted text"]);
    let angles = ("factors", "<f8", [2, 1].as_slice(), floats(&[0.5, f64::NAN]));
    own(&[two_images(), angles], &["factor \"factor_0\" is NaN at row 1", "finite"]);
}

#[test]
fn claims_of_terabytes_take_no_memory() {
    let before = peak_memory();
    let terabytes = ("images", "|u1", [1_usize << 30, 64, 64, 3].as_slice(), vec![7; 12]);
    own(std::slice::from_ref(&terabytes), &["array \"images\"", "shape [1073741824, 64, 64, 3]", "12 bytes follow"]);
    let absurd = ("images", "|u1", [usize::MAX, 64, 64, 3].as_slice(), vec![7; 12]);
    own(&[absurd], &["array \"images\"", "no memory holds"]);
    // Here the directory of the archive claims as much as the array does.
    let bytes = npy(&terabytes);
    let claimed = bytes.len() as u64 - 12 + (3 << 42);
    let stored = Copied::file("a.npz", &claiming("images.npy", 0, &bytes, claimed));
    stored.refused("npz", "", "", &["array \"images\"", "claims to have 13194139533440 bytes", "at most 140 can"]);
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&bytes).unwrap();
    let deflated = Copied::file("a.npz", &claiming("images.npy", 8, &encoder.finish().unwrap(), claimed));
    deflated.refused("npz", "", "", &["array \"images\"", "claims to have 13194139533440 bytes"]);
    // A small archive can honestly hold large arrays, which are not read where they cannot fit the images.
    let rows = ("factors", "|u1", [20_000_000].as_slice(), vec![0; 20_000_000]);
    let bytes = npz_by(&[two_images(), rows], CompressionMethod::Deflated);
    Copied::file("a.npz", &bytes).refused("npz", "", "", &["20000000 rows of factors", "2 images"]);
    let columns = ("factors", "|u1", [2, 10_000_000].as_slice(), vec![0; 20_000_000]);
    let bytes = npz_by(&[two_images(), columns], CompressionMethod::Deflated);
    Copied::file("a.npz", &bytes).refused("npz", "", "", &["array \"factors\"", "10000000 columns"]);
    let factors = ("factors", "|u1", [2].as_slice(), vec![0, 1]);
    let names = ("factor_names", "|S1", [20_000_000].as_slice(), vec![b'x'; 20_000_000]);
    let bytes = npz_by(&[two_images(), factors, names], CompressionMethod::Deflated);
    Copied::file("a.npz", &bytes).refused("npz", "", "", &["factor_names has 20000000 entries", "1 column"]);
    let digits = Copied::of("mnist_raw");
    digits.write(IMAGES, [&[0, 0, 8, 3][..], &[0xff; 12], &[1; 50]].concat());
    digits.refused("mnist", "", IMAGES, &["shape [4294967295, 4294967295, 4294967295]", "no memory holds"]);
    digits.write(IMAGES, gzipped(&[&[0, 0, 8, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 99][..], &[1; 50]].concat()));
    digits.refused("mnist", "", IMAGES, &["shape [65536, 65536, 99]", "can follow"]);
    let toys = Copied::of("smallnorb");
    let header: Vec<u8> = [0x1e3d_4c54_u32, 2, 1 << 28, 4, 1].iter().flat_map(|size| size.to_le_bytes()).collect();
    let info = format!("{NORB}-info.mat.gz");
    toys.write(&info, &header);
    toys.refused("smallnorb", "", &info, &["shape [268435456, 4]", "at most 0 can follow"]);
    assert!(peak_memory() - before < 200 << 20, "{} bytes more", peak_memory() - before);
}

#[test]
fn what_a_file_says_is_told_in_part_where_it_is_long() {
    let names: Vec<String> = (0..900).map(|number| format!("array_{number}")).collect();
    let many: Vec<Array> = names.iter().map(|name| (name.as_str(), "|u1", [1].as_slice(), vec![7])).collect();
    own(&many, &["there is no array \"images\"; found array_0, array_1, ", "…"]);
    let odd = format!("<f4{}", "x".repeat(8000));
    own(&[("images", odd.as_str(), &[1, 1, 1], vec![0; 4])], &["array \"images\"", "are not read"]);
    own(
        &[("images", &odd.replacen("x", "', 'shape': x", 1), &[1, 1, 1], vec![0; 4])],
        &["array \"images\"", "not understood", "…"],
    );
}

#[test]
fn broken_digits_are_refused() {
    let digits = Copied::of("mnist_raw");
    let (images, labels) = (digits.bytes(IMAGES), digits.bytes(LABELS));
    for n_bytes in [0, 3, 15] {
        digits.write(IMAGES, &images[..n_bytes]);
        digits.refused("mnist", "", IMAGES, &["is cut short", "idx"]);
    }
    digits.write(IMAGES, &images[..images.len() - 1]);
    digits.refused("mnist", "", IMAGES, &["array of shape [20, 28, 28]", "cut short"]);
    digits.write(IMAGES, [&images[..], b"x"].concat());
    digits.refused("mnist", "", IMAGES, &["found more bytes"]);
    digits.write(IMAGES, b"\x89PNG\r\n\x1a\n");
    digits.refused("mnist", "", IMAGES, &["is not an idx file", "0x89 0x50"]);
    digits.write(IMAGES, [&[0, 0, 13, 3], &images[4..]].concat());
    digits.refused("mnist", "", IMAGES, &["unsigned bytes", "32-bit floats"]);
    digits.write(IMAGES, &labels);
    digits.refused("mnist", "", IMAGES, &["has shape [20], wanted [images, height, width]"]);
    digits.write(IMAGES, [&images[..4], &[0; 12]].concat());
    digits.refused("mnist", "", IMAGES, &["has shape [0, 0, 0]"]);
    digits.write(IMAGES, &images);
    digits.write(LABELS, [0, 0, 8, 1, 0, 0, 0, 1, 3]);
    digits.refused("mnist", "", LABELS, &["labels of shape [1]", "20 images", "not of one set"]);
    digits.write(LABELS, [&labels[..8], &[77; 20]].concat());
    digits.refused("fashion_mnist", "", LABELS, &["has a label 77, wanted 0 to 9"]);
    std::fs::remove_file(digits.at(LABELS)).unwrap();
    digits.refused("mnist", "", "", &["has no train-labels-idx1-ubyte.gz", "https://"]);
}

#[test]
fn broken_gzip_streams_are_refused() {
    let digits = Copied::of("mnist");
    let (images, labels) = (format!("{IMAGES}.gz"), format!("{LABELS}.gz"));
    let whole = digits.bytes(&images);
    for n_bytes in [5, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
        digits.write(&images, &whole[..n_bytes]);
        digits.refused("mnist", "", &images, &["the gzip stream is cut short"]);
    }
    let mut wrong = whole.clone();
    let checksum = wrong.len() - 6;
    wrong[checksum] ^= 1;
    digits.write(&images, &wrong);
    digits.refused("mnist", "", &images, &["the gzip stream is damaged", "checksum"]);
    digits.write(&images, [&whole[..], &gzipped(b"more")].concat());
    digits.refused("mnist", "", &images, &["found more bytes"]);
    digits.write(&images, &whole);
    digits.write(&labels, gzipped(&inflated(&digits.bytes(&labels))[..20]));
    digits.refused("mnist", "", &labels, &["is cut short: wanted 20 bytes of the idx values, found 12"]);
}

#[test]
fn broken_toys_are_refused() {
    let toys = Copied::of("smallnorb");
    let [images, categories, infos] = ["dat", "cat", "info"].map(|kind| format!("{NORB}-{kind}.mat.gz"));
    let [whole_images, whole_categories, whole_infos] = [&images, &categories, &infos].map(|name| toys.bytes(name));
    toys.write(&images, &whole_images[..whole_images.len() / 2]);
    toys.refused("smallnorb", "", &images, &["the gzip stream is cut short"]);
    let mut wrong = whole_images.clone();
    let checksum = wrong.len() - 6;
    wrong[checksum] ^= 1;
    toys.write(&images, &wrong);
    toys.refused("smallnorb", "", &images, &["the gzip stream is damaged", "checksum"]);
    toys.write(&images, &whole_infos);
    toys.refused("smallnorb", "", &images, &["wanted [photographs, 2, height, width]"]);
    toys.write(&images, &whole_images);
    toys.write(&categories, &whole_infos);
    toys.refused("smallnorb", "", &categories, &["wanted [photographs]"]);
    toys.write(&categories, &whole_images);
    toys.refused("smallnorb", "", &categories, &["wanted [photographs]"]);
    toys.write(&categories, gzipped(&[0x1e3d_4c54_u32, 1, 0, 1, 1].map(u32::to_le_bytes).concat()));
    toys.refused("smallnorb", "", &categories, &["has shape [0], wanted [photographs]"]);
    toys.write(&categories, &whole_categories);
    toys.write(&infos, &whole_categories);
    toys.refused("smallnorb", "", &infos, &["has shape [", ", 4]"]);
    toys.write(&infos, b"some text, and no matrix");
    toys.refused("smallnorb", "", &infos, &["magic number of a matrix"]);
    // One toy is there twice, and another not at all.
    let mut repeated = inflated(&whole_infos);
    let (first, second) = (repeated[20..36].to_vec(), 36..52);
    repeated[second].copy_from_slice(&first);
    toys.write(&infos, &repeated);
    let mut same = inflated(&whole_categories);
    let first = same[20..24].to_vec();
    same[24..28].copy_from_slice(&first);
    toys.write(&categories, &same);
    toys.refused("smallnorb", "", "", &["not one for each combination", "two sets"]);
    std::fs::remove_file(toys.at(&infos)).unwrap();
    toys.refused("smallnorb", "", "", &["has no file called *-training-info.mat.gz"]);
}

#[test]
fn toys_of_two_sets_are_refused() {
    let toys = Copied::of("smallnorb");
    let [images, infos] = ["dat", "info"].map(|kind| format!("{NORB}-{kind}.mat.gz"));
    let (whole_images, whole_infos) = (inflated(&toys.bytes(&images)), inflated(&toys.bytes(&infos)));
    // Both sets have as many photographs, in another order.
    toys.write(&infos, toys.bytes("smallnorb-5x01235x9x18x6x2x96x96-testing-info.mat.gz"));
    toys.refused("smallnorb", "", "", &["not one for each combination", "two sets"]);
    // One with a photograph fewer: their number is at byte 8, a row of the factors has 16 bytes, a pair of photographs 288.
    let fewer = |bytes: &[u8], row_bytes: usize| [&bytes[..8], &[47], &bytes[9..bytes.len() - row_bytes]].concat();
    toys.write(&infos, fewer(&whole_infos, 16));
    toys.refused("smallnorb", "", &infos, &["has shape [47, 4], wanted [48, 4]", "two sets"]);
    toys.write(&infos, &whole_infos);
    toys.write(&images, fewer(&whole_images, 288));
    toys.refused("smallnorb", "", &images, &["has 47 photographs, and the categories are of 48", "two sets"]);
}

#[test]
fn broken_cars_are_refused() {
    let cars = Copied::of("cars3d");
    let (packed, plain, list) = ("car_001_mesh.mat", "car_002_mesh.mat", "list.txt");
    for name in [packed, plain, "car_010_mesh.mat"] {
        let whole = cars.bytes(name);
        // The images are the first variable but in the last of the files. What follows them is not looked at.
        let first_bytes = u32::from_le_bytes(whole[132..136].try_into().unwrap()) as usize;
        let end = if name == "car_010_mesh.mat" { whole.len() } else { 136 + first_bytes };
        for n_bytes in [0, 100, 130, end / 2, end - 1] {
            cars.write(name, &whole[..n_bytes]);
            cars.refused("cars3d", "", name, &["cut short"]);
        }
        cars.write(name, &whole);
    }
    let whole = cars.bytes(plain);
    let edited = |place: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[place] = byte;
        cars.write(plain, bytes);
    };
    edited(126, b'X');
    cars.refused("cars3d", "", plain, &["is not a MAT-file", "endian mark"]);
    // After the header and two tags comes the class of the first variable, then, 16 bytes on, its shape.
    edited(144, 6);
    cars.refused("cars3d", "", plain, &["variable \"im\"", "class uint8, found double"]);
    let name = whole.windows(2).position(|two| two == b"im").unwrap();
    edited(name, b'j');
    cars.refused("cars3d", "", plain, &["no variable is called \"im\"", "\"jm\""]);
    // The same bytes as images of one pixel, from thousands of sides.
    let size = |axis: usize| u32::from_le_bytes(whole[160 + 4 * axis..][..4].try_into().unwrap());
    let sizes = [1, 1, size(2), size(0) * size(1) * size(3), size(4)].map(u32::to_le_bytes).concat();
    cars.write(plain, [&whole[..160], &sizes, &whole[180..]].concat());
    cars.refused("cars3d", "", plain, &["variable \"im\" has shape [1, 1, 3, ", "wanted [height, width,"]);
    cars.write(plain, b"\x89HDF\r\n\x1a\n and so on");
    cars.refused("cars3d", "", plain, &["is an HDF5 file, wanted a MAT-file of level 5"]);
    cars.write(plain, &whole);
    cars.replace(list, "car_002_mesh", "car_001_mesh");
    cars.refused("cars3d", "", list, &["car_001_mesh.mat twice"]);
    cars.replace(list, "car_001_mesh", "car_077_mesh");
    cars.refused("cars3d", "", "car_077_mesh.mat", &["there is no file"]);
    cars.write(list, "\n\n");
    cars.refused("cars3d", "", "", &["names no car", "list.txt"]);
    cars.write(list, [0xff, 0xfe, 0x00]);
    cars.refused("cars3d", "", list, &["UTF-8"]);
}

#[test]
fn a_stored_archive_that_changes_is_an_error() {
    let file = Copied::of("mpi3d.npz");
    let whole = file.bytes("");
    let mut pixels = vec![0.0; 64 * 64 * 3];
    for n_bytes in [whole.len() / 3, whole.len() - 100, 0] {
        let dataset = file.opened("mpi3d_toy", MPI3D).unwrap();
        pixels.resize(dataset.image_shape().n_pixels(), 0.0);
        dataset.read_image(71, &mut pixels).unwrap();
        std::fs::File::options().write(true).open(file.path()).unwrap().set_len(n_bytes as u64).unwrap();
        let message = dataset.read_image(71, &mut pixels).unwrap_err().to_string();
        assert!(message.contains("mpi3d.npz was changed while it was read"), "{message}");
        file.write("", &whole);
    }
    // A file of the same length is known by when it was written, which systems count in steps of some milliseconds.
    for other in [[&whole[..], &whole].concat(), vec![7; whole.len()]] {
        file.write("", &whole);
        let dataset = file.opened("mpi3d_toy", MPI3D).unwrap();
        std::thread::sleep(Duration::from_millis(30));
        file.write("", other);
        let message = dataset.read_image(0, &mut pixels).unwrap_err().to_string();
        assert!(message.contains("mpi3d.npz was changed while it was read"), "{message}");
    }
}

#[test]
fn rooms_and_sprites_that_are_cut_short_or_of_another_kind_are_refused() {
    for (name, dataset) in
        [("shapes3d.h5", "shapes3d"), ("shapes3d_rows.h5", "shapes3d"), ("dsprites.hdf5", "dsprites")]
    {
        let file = Copied::of(name);
        let whole = file.bytes("");
        for n_bytes in [9, 40, 200, whole.len() / 4, whole.len() / 2, whole.len() - 1] {
            file.write("", &whole[..n_bytes]);
            file.refused(dataset, "", "", &[]);
        }
    }
    Copied::file("3dshapes.h5", b"no HDF5 file at all").refused("shapes3d", "", "", &["HDF5"]);
    Copied::of("dsprites.hdf5").refused("shapes3d", "", "", &["\"images\"", "imgs"]);
    Copied::of("shapes3d.h5").refused("dsprites", "", "", &["\"imgs\"", "images"]);
    Copied::of("own_factors.npz").refused("dsprites", "", "", &["\"imgs\""]);
}

#[test]
fn sprites_whose_classes_do_not_fit_are_refused() {
    let images = || ("imgs", "|u1", &[4, 2, 2][..], vec![1; 16]);
    let classes = |shape: &'static [usize], values: &[i64]| ("latents_classes", "<i8", shape, wholes(values));
    let sprites = |arrays: &[Array], words: &[&str]| {
        Copied::file("dsprites.npz", &npz(arrays)).refused("dsprites", "", "", words);
    };
    sprites(&[images()], &["\"latents_classes\""]);
    sprites(&[images(), classes(&[4, 5], &[0; 20])], &["\"latents_classes\"", "wanted [4, 6]"]);
    sprites(&[images(), classes(&[3, 6], &[0; 18])], &["\"latents_classes\"", "wanted [4, 6]"]);
    sprites(&[images(), classes(&[4, 6], &[0; 24])], &["one for each combination"]);
}
