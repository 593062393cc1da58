//! Archives from outside: numpy's own, the golden inputs, and files that are broken at random.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

#[path = "../../data/tests/outside/mod.rs"]
mod outside;

use std::io::{Cursor, Write};
use std::process::Command;

use proptest::prelude::*;
use tempfile::{NamedTempFile, tempdir};
use toml::Table;
use unbraid_data::LabelledCodes;
use unbraid_data::datasets::build;
use unbraid_data::npy::{NpyArray, write_header};
use unbraid_formats::export::export_npz;
use unbraid_formats::npz::read_labelled_codes;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A small good archive.
fn archive() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, descr, shape, n_bytes) in
        [("codes", "<f4", [6, 2], 48), ("factors", "|u1", [6, 1], 6), ("log_variances", "<f8", [6, 2], 96)]
    {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        write_header(&mut zip, descr, &shape).unwrap();
        zip.write_all(&vec![0; n_bytes]).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn read_bytes(bytes: &[u8]) -> unbraid_data::Result<LabelledCodes> {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    read_labelled_codes(file.path())
}

/// An array of this description, without values.
fn npy(description: &str) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((description.len() as u16).to_le_bytes());
    file.extend(description.as_bytes());
    file
}

/// Sizes of an axis, absurd ones among them.
fn any_size() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0), 1..8_usize, Just(usize::MAX), (0..64_u32).prop_map(|power| 1 << power), any::<usize>()]
}

#[test]
fn the_good_archive_is_read() {
    assert_eq!(read_bytes(&archive()).unwrap().n_rows(), 6);
}

#[test]
fn every_truncation_is_an_error() {
    let whole = archive();
    for n_bytes in 0..whole.len() {
        assert!(read_bytes(&whole[..n_bytes]).is_err(), "{n_bytes} bytes of {}", whole.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(read_bytes(&bytes).is_err());
    }

    #[test]
    fn changed_bytes_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = archive();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let _ = read_bytes(&bytes);
    }

    #[test]
    fn random_descriptions_never_panic(
        descr in "[<>|=]?[a-zA-Z][0-9]{0,9}",
        shape in "\\(?[0-9, ]{0,12}\\)?",
        order in "True|False|",
        data in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let mut file = npy(&format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"));
        file.extend(data);
        if let Ok(array) = NpyArray::read(file.as_slice(), file.len() as u64) {
            let _ = (array.to_f64(), array.to_i64(), array.to_text(), array.to_table(), array.to_tables());
        }
    }

    #[test]
    fn absurd_shapes_never_panic(
        descr in prop::sample::select(vec!["|u1", "<f4", "<f8", "<U3", "|S5"]),
        shape in prop::collection::vec(any_size(), 0..4),
        order in "True|False",
    ) {
        let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
        let file = npy(&format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({sizes}), }}"));
        if let Ok(array) = NpyArray::read(file.as_slice(), file.len() as u64) {
            let _ = (array.to_f64(), array.to_i64(), array.to_text(), array.to_table(), array.to_tables());
        }
        // As each of the arrays of an archive that is otherwise good.
        for name in ["codes", "factors", "factor_names", "factor_sizes", "train_rows", "log_variances", "jacobians"] {
            let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
            for (other, descr, n_bytes) in [("codes", "<f4", 24), ("factors", "|u1", 6)] {
                if other != name {
                    zip.start_file(format!("{other}.npy"), SimpleFileOptions::default()).unwrap();
                    write_header(&mut zip, descr, &[6, 1]).unwrap();
                    zip.write_all(&vec![0; n_bytes]).unwrap();
                }
            }
            zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
            zip.write_all(&file).unwrap();
            let _ = read_bytes(&zip.finish().unwrap().into_inner());
        }
    }
}

#[test]
fn the_golden_inputs_are_read() {
    let Some(folder) = outside::folder("UNBRAID_GOLDEN") else { return };
    let inputs = folder.join("inputs");
    for (name, n_rows, n_latents, is_grid) in [
        ("identity_noise", 46_080, 8, true),
        ("rotated", 46_080, 5, true),
        ("constant_latent", 46_080, 7, true),
        ("dsprites_pca", 46_080, 10, true),
        ("shapes3d_vae_mean", 15_008, 10, false),
        ("shapes3d_vae_sampled", 15_008, 10, false),
    ] {
        let data = read_labelled_codes(&inputs.join(format!("{name}.npz"))).unwrap();
        assert_eq!((data.n_rows(), data.n_latents()), (n_rows, n_latents), "{name}");
        assert_eq!(data.space().grid_sizes().is_ok(), is_grid, "{name}");
        let extras = data.extras();
        assert_eq!(extras.train_rows.as_ref().map(Vec::len), Some(10_000), "{name}");
        assert_eq!(extras.test_rows.as_ref().map(Vec::len), Some(5000), "{name}");
    }
}

#[test]
fn numpy_reads_what_is_exported_and_is_read_in_turn() {
    let has_numpy = Command::new("python3").args(["-c", "import numpy"]).output().is_ok_and(|run| run.status.success());
    if !has_numpy {
        return outside::skip("python3 with numpy is not installed");
    }
    let folder = tempdir().unwrap();
    let (exported, saved) = (folder.path().join("exported.npz"), folder.path().join("saved.npz"));
    let dataset = build("dsprites", &Table::from_iter([("rendered".to_string(), true.into())])).unwrap();
    export_npz(&*dataset, Some(&[0, 245_760, 737_279]), &exported).unwrap();
    // The white pixels of the first image are a square of ten by ten (worked out in dsprites.rs).
    let script = r#"
import sys, numpy
data = numpy.load(sys.argv[1])
assert data["images"].shape == (3, 64, 64, 1) and data["images"].dtype == numpy.uint8
assert data["images"][0].astype(int).sum() == 100 * 255
assert data["factors"].tolist() == [[0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [2, 5, 39, 31, 31]]
assert data["factor_sizes"].tolist() == [3, 6, 40, 32, 32]
assert data["factor_names"].tolist() == ["shape", "scale", "orientation", "pos_x", "pos_y"]
assert data["index"].tolist() == [0, 245760, 737279]
numpy.savez_compressed(
    sys.argv[2],
    codes=numpy.asfortranarray(numpy.arange(12).reshape(4, 3)).astype(">f2"),
    factors=numpy.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool),
    factor_names=numpy.array(["größe", "x"]),
)
"#;
    let run = Command::new("python3").arg("-c").arg(script).args([&exported, &saved]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let data = read_labelled_codes(&saved).unwrap();
    assert_eq!(data.codes().row(1).to_vec(), [3.0, 4.0, 5.0]);
    assert_eq!(data.space().names().collect::<Vec<_>>(), ["größe", "x"]);
    assert_eq!(data.space().grid_sizes().unwrap(), [2, 2]);
}
