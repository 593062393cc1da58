//! HDF5 files that h5py wrote (`hdf5/make.py`), read back exactly.

use std::fs;
use std::path::{Path, PathBuf};

use unbraid_data::files::hdf5::{Array, Hdf5};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hdf5").join(name)
}

fn open(name: &str) -> Hdf5 {
    Hdf5::open(&path(name)).expect("the file can be read")
}

/// The values that `make.py` gives an array of this shape.
fn values(shape: &[usize]) -> Vec<u8> {
    (0..shape.iter().product::<usize>()).map(|i| ((i * 7 + i / 256) % 251) as u8).collect()
}

/// Reads the rows at once, each alone, and in overlapping threes.
fn assert_rows(array: &Array, expected: &[u8]) {
    let n_rows = array.shape()[0];
    let row_bytes = expected.len() / n_rows;
    for n in [1, n_rows.min(3), n_rows] {
        for first in 0..=n_rows - n {
            let wanted = &expected[first * row_bytes..(first + n) * row_bytes];
            let found = array.rows(first, n).expect("the rows can be read");
            assert!(found == wanted, "{n} rows from {first} of {array:?}");
        }
    }
}

const IMAGES: [&str; 3] = ["earliest.h5", "v110.h5", "latest.h5"];

#[test]
fn images_come_back_however_they_are_stored() {
    let shapes: [(&str, &[usize], &[usize]); 11] = [
        ("tiles", &[13, 8, 10, 3], &[5, 3, 4, 2]),
        ("one_each", &[9, 8, 8, 3], &[1, 8, 8, 3]),
        ("contiguous", &[6, 4, 5], &[]),
        ("plain_chunks", &[7, 6, 5], &[2, 4, 5]),
        ("single_chunk", &[4, 3, 2], &[4, 3, 2]),
        ("checked", &[10, 6, 4], &[3, 6, 4]),
        ("growing", &[11, 4, 3], &[2, 4, 3]),
        ("growing_plain", &[70, 2], &[1, 2]),
        ("growing_twice", &[7, 9], &[2, 2]),
        ("may_grow", &[5, 6], &[2, 4]),
        ("early", &[9, 5], &[2, 2]),
    ];
    for file in IMAGES {
        let file = open(file);
        for (name, shape, chunk) in shapes {
            let array = file.dataset(name).unwrap();
            assert_eq!((array.shape(), array.chunk_shape().unwrap_or_default()), (shape, chunk));
            assert!(array.holds_bytes());
            assert_rows(&array, &values(shape));
            assert!(array.to_f64().unwrap().into_iter().eq(values(shape).into_iter().map(f64::from)));
        }
    }
}

#[test]
fn what_was_not_written_is_filled() {
    for file in IMAGES {
        let file = open(file);
        let mut holes = vec![9; 12 * 16];
        holes[3 * 16..5 * 16].fill(77);
        assert_rows(&file.dataset("holes").unwrap(), &holes);
        assert_rows(&file.dataset("never_written").unwrap(), &[4; 15]);
        assert!(file.dataset("empty").unwrap().rows(0, 0).unwrap().is_empty());
        let mut far = vec![0; 200_001];
        far[199_990..].fill(5);
        assert_eq!(file.dataset("far").unwrap().rows(0, 200_001).unwrap(), far);
        // 9 columns were written, and all but 5 cut off.
        let cut: Vec<u8> = values(&[7, 9]).chunks(9).flat_map(|row| row[..5].to_vec()).collect();
        assert_rows(&file.dataset("growing_last").unwrap(), &cut);
    }
}

#[test]
fn tables_come_back_whatever_their_type() {
    for file in IMAGES {
        let file = open(file);
        let table = |name: &str| file.dataset(name).unwrap().to_f64().unwrap();
        let between = |n: usize| (0..n).map(move |i| -1.0 + i as f64 * (2.0 / (n - 1) as f64));
        assert_eq!(table("latents/deep/classes"), (-12..12).map(f64::from).collect::<Vec<_>>());
        assert!(
            table("/latents/floats").into_iter().zip(between(10)).all(|(found, wanted)| (found - wanted).abs() < 1e-15)
        );
        assert_eq!(table("also_floats"), table("latents/floats"));
        assert!(table("latents/singles").into_iter().eq(between(6).map(|value| f64::from(value as f32))));
        assert!(
            table("latents/halves").into_iter().zip(between(6)).all(|(found, wanted)| (found - wanted).abs() < 5e-4)
        );
        assert_eq!(table("latents/big_endian"), [1.0, -2.0, 300.0, -70_000.0]);
        assert_eq!(table("latents/big_floats"), [0.5, -1e300]);
        assert_eq!(table("latents/unsigned"), [0.0, u64::MAX as f64]);
        assert_eq!(table("latents/scalar"), [3.5]);
        let mask = file.dataset("mask").unwrap();
        assert_eq!(
            mask.rows(0, 4).unwrap(),
            values(&[4, 5]).iter().map(|&value| u8::from(value > 120)).collect::<Vec<_>>()
        );
        assert!(!file.dataset("latents/singles").unwrap().holds_bytes());
    }
}

#[test]
fn indexes_of_many_chunks_and_groups_of_many_names_are_read() {
    for file in ["earliest", "fixed", "growing", "growing_twice"] {
        let rows = open(&format!("many_chunks_{file}.h5")).dataset("rows").unwrap();
        assert_eq!(rows.rows(0, 3000).unwrap(), values(&[3000, 2]));
        assert_eq!(rows.rows(2999, 1).unwrap(), &values(&[3000, 2])[5998..]);
    }
    for file in ["earliest", "latest"] {
        let file = open(&format!("many_names_{file}.h5"));
        assert_eq!(file.names(), (0..300).map(|number| format!("dataset_{number:03}")).collect::<Vec<_>>());
        for (number, name) in file.names().iter().enumerate() {
            assert_eq!(file.dataset(name).unwrap().rows(0, 1).unwrap(), [number as u8]);
        }
    }
    assert_rows(&open("compact.h5").dataset("compact").unwrap(), &values(&[3, 4]));
    assert_rows(&open("user_block.h5").dataset("a").unwrap(), &values(&[5, 3]));
}

#[test]
fn what_is_decoded_on_several_threads_comes_back() {
    let file = open("large.h5");
    let expected: Vec<u8> = (0..100 * 48 * 40 * 3).map(|i| (i / 1000 % 251) as u8).collect();
    let row_bytes = 48 * 40 * 3;
    for name in ["tiles", "one_each"] {
        let array = file.dataset(name).unwrap();
        for (first, n) in [(0, 100), (29, 2), (17, 80), (31, 1), (90, 10), (99, 1)] {
            let found = array.rows(first, n).unwrap();
            assert!(found == expected[first * row_bytes..(first + n) * row_bytes], "{n} rows from {first} of {name}");
        }
    }
    let numbers = expected.chunks(row_bytes).flat_map(|row| &row[..10 * 40 * 3]).map(|&value| f64::from(value));
    assert!(file.dataset("numbers").unwrap().to_f64().unwrap().into_iter().eq(numbers));
}

#[test]
fn names_in_the_order_of_making_are_read() {
    let file = open("ordered.h5");
    assert_eq!(file.names().len(), 24);
    for number in 0..12 {
        assert_rows(&file.dataset(&format!("group_{number}/z")).unwrap(), &values(&[3, 2]));
        assert_rows(&file.dataset(&format!("group_{number}/a")).unwrap(), &values(&[2, 2]));
    }
}

#[test]
fn refusals_say_why() {
    let file = open("latest.h5");
    let message = |name: &str| file.dataset(name).unwrap_err().to_string();
    assert!(message("tilse").contains("no dataset is called \"tilse\"; did you mean \"tiles\"?"));
    assert!(message("images").contains("the file holds also_floats, checked, contiguous, "));
    assert!(message("lzf").contains("dataset \"lzf\": is compressed by lzf, which is not read"));
    assert!(message("latents/text").contains("holds text"));
    let tiles = file.dataset("tiles").unwrap();
    assert!(tiles.rows(12, 2).unwrap_err().to_string().contains("has shape [13, 8, 10, 3], without 2 rows from 12"));
    assert!(tiles.rows(usize::MAX, 2).is_err());
    assert!(file.dataset("latents/floats").unwrap().rows(0, 1).unwrap_err().to_string().contains("wanted bytes"));
    assert!(Hdf5::open(&path("make.py")).unwrap_err().to_string().contains("make.py: is not an HDF5 file"));
    assert_eq!(Hdf5::open(Path::new("/no/such.h5")).unwrap_err().to_string(), "there is no file /no/such.h5");
}

#[test]
fn sizes_that_no_file_of_its_size_holds_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.h5");
    let whole = fs::read(path("user_block.h5")).unwrap();
    let numbers = |numbers: [u64; 2]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let sizes = |sizes: [u32; 3]| sizes.iter().flat_map(|size| size.to_le_bytes()).collect::<Vec<_>>();
    let changes = [
        (
            numbers([5, 3]),
            numbers([1 << 40, 3]),
            "[1099511627776, 3] was announced, too large for a file of 4546 bytes",
        ),
        (numbers([5, 3]), numbers([0, u64::MAX]), "too large for a file of 4546 bytes"),
        (sizes([2, 3, 1]), sizes([1 << 30, 3, 1]), "chunks of shape [1073741824, 3] have more than 1 GiB"),
        (sizes([2, 3, 1]), sizes([0, 3, 1]), "chunks of shape [0, 3] do not fit the 2 axes"),
    ];
    for (from, to, expected) in changes {
        let mut bytes = whole.clone();
        let places: Vec<usize> = (0..bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(&from)).collect();
        places.iter().for_each(|&at| bytes[at..at + to.len()].copy_from_slice(&to));
        fs::write(&copy, &bytes).unwrap();
        let message = Hdf5::open(&copy).unwrap().dataset("a").unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_file_that_is_cut_is_refused_wherever() {
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.h5");
    for file in ["earliest.h5", "latest.h5", "compact.h5", "user_block.h5", "many_names_latest.h5"] {
        let whole = fs::read(path(file)).unwrap();
        fs::write(&cut, &whole).unwrap();
        let writer = fs::OpenOptions::new().write(true).open(&cut).unwrap();
        for n_bytes in [whole.len() - 1].into_iter().chain((0..whole.len()).step_by(97).rev()) {
            writer.set_len(n_bytes as u64).unwrap();
            assert!(Hdf5::open(&cut).is_err(), "{file} of {n_bytes} bytes");
        }
    }
}

#[test]
fn a_file_that_changes_while_in_use_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.h5");
    let bytes = fs::read(path("earliest.h5")).unwrap();
    for n_bytes in [bytes.len() - 1, 0, bytes.len() + 1] {
        fs::write(&copy, &bytes).unwrap();
        let file = Hdf5::open(&copy).unwrap();
        let arrays = ["one_each", "contiguous", "latents/scalar"].map(|name| file.dataset(name).unwrap());
        fs::OpenOptions::new().write(true).open(&copy).unwrap().set_len(n_bytes as u64).unwrap();
        let message = file.dataset("tiles").unwrap_err().to_string();
        assert!(message.contains("was changed while it was in use"), "{message}");
        for array in &arrays {
            let message = array.to_f64().unwrap_err().to_string();
            assert!(message.contains("was changed while it was in use"), "{message}");
        }
    }
}

#[test]
fn many_threads_read_at_once() {
    let file = open("latest.h5");
    let tiles = file.dataset("tiles").unwrap();
    let expected = values(&[13, 8, 10, 3]);
    std::thread::scope(|scope| {
        for start in 0..4 {
            let (tiles, expected) = (&tiles, &expected);
            scope.spawn(move || {
                for number in 0..200 {
                    let row = (start * 5 + number) % 13;
                    assert_eq!(tiles.rows(row, 1).unwrap(), &expected[row * 240..(row + 1) * 240]);
                }
            });
        }
    });
}
