//! Files and folders that other tools wrote (`reference/datasets`) are recognised, found whole, and opened by the lines that say
//! what reads them; what is cut is not whole.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use rand::RngExt;
use unbraid_data::files::recognise::{Recognised, recognise};
use unbraid_data::npy::write_header;
use unbraid_data::{Seed, datasets};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/datasets")
}

fn whole(path: &Path) -> Recognised {
    let recognised = recognise(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if let Err(error) = &recognised.is_whole {
        panic!("{}: {error}", path.display());
    }
    recognised
}

/// The names of the datasets that read it, each of which is opened by the lines as they are.
fn opened(recognised: &Recognised) -> Vec<String> {
    let lines = recognised.reads_it.iter().filter(|lines| lines.starts_with("[dataset]"));
    let open = |lines: &String| {
        let mut settings = lines.parse::<toml::Table>().unwrap().remove("dataset").unwrap().as_table().unwrap().clone();
        let name = settings.remove("name").unwrap().as_str().unwrap().to_string();
        let dataset = datasets::build(&name, &settings).unwrap_or_else(|error| panic!("{lines}\n{error}"));
        dataset.read_image(0, &mut vec![0.0; dataset.image_shape().n_pixels()]).unwrap();
        name
    };
    lines.map(open).collect()
}

/// What a fixture is, which datasets open it, and that all details are there.
fn check(path: &str, what: &str, names: &[&str], details: &[&str]) {
    let recognised = whole(&fixtures().join(path));
    assert!(recognised.what.contains(what), "{path}: {recognised:?}");
    assert_eq!(opened(&recognised), names, "{path}: {recognised:?}");
    for detail in details {
        assert!(recognised.details.iter().any(|line| line.contains(detail)), "{path}: {detail}: {recognised:?}");
    }
}

/// Whether a dataset is read from files; rows that are not yet are not named.
fn takes_a_path(name: &str) -> bool {
    datasets::find(name).is_ok_and(|entry| entry.settings.iter().any(|setting| setting.name == "path"))
}

fn message(path: &Path) -> String {
    recognise(path).unwrap_err().to_string()
}

fn not_whole(path: &Path) -> String {
    let recognised = recognise(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    recognised.is_whole.expect_err(&path.display().to_string()).to_string()
}

fn write_npz(path: &Path, arrays: &[(&str, &str, &[usize], &[u8])]) {
    let mut archive = zip::ZipWriter::new(fs::File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, descr, shape, values) in arrays {
        archive.start_file(format!("{name}.npy"), options).unwrap();
        write_header(&mut archive, descr, shape).unwrap();
        archive.write_all(values).unwrap();
    }
    archive.finish().unwrap();
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Keeps the first part of a file.
fn cut(path: &Path, keep: impl FnOnce(usize) -> usize) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..keep(bytes.len())]).unwrap();
}

#[test]
fn archives_of_numpy_are_read_by_what_they_hold() {
    for name in ["own", "own_factors", "own_text", "own_continuous", "mpi3d", "mpi3d_compressed", "own.expected"] {
        check(&format!("{name}.npz"), "images in an archive", &["npz"], &["images: "]);
    }
    check("own.npz", "images", &["npz"], &["images: float32 [12, 20, 24]"]);
    let sprites: &[&str] = if takes_a_path("dsprites") { &["dsprites"] } else { &[] };
    let pickled = "metadata: passed over, pickled objects are not read";
    check(
        "dsprites.npz",
        "dSprites",
        sprites,
        &["imgs: uint8 [108, 64, 64]", "latents_classes: int64 [108, 6]", pickled],
    );
    check("resized.npz", "an archive of numpy", &[], &["datasets want an array images"]);
}

#[test]
fn every_archive_of_the_fixtures_is_whole() {
    for entry in fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "npz") {
            opened(&whole(&path));
        }
    }
}

#[test]
fn matrices_and_variables_are_read_with_their_folders() {
    for name in ["car_001_mesh", "car_002_mesh", "car_010_mesh"] {
        check(&format!("cars3d/{name}.mat"), "Cars3D", &["cars3d"], &["im: uint8 [", "mask: "]);
    }
    let norb = "smallnorb/smallnorb-5x46789x9x18x6x2x96x96-training";
    check(&format!("{norb}-dat.mat.gz"), "SmallNORB", &["smallnorb"], &["bytes ["]);
    check(&format!("{norb}-info.mat.gz"), "SmallNORB", &["smallnorb"], &["32-bit whole numbers [", ", 4]"]);
    let testing = whole(&fixtures().join("smallnorb/smallnorb-5x01235x9x18x6x2x96x96-testing-cat.mat.gz"));
    assert!(testing.reads_it[0].ends_with("\npart = \"test\""), "{testing:?}");
    assert_eq!(opened(&testing), ["smallnorb"]);
    check("mnist/train-images-idx3-ubyte.gz", "idx", &["mnist"], &["unsigned bytes"]);
    let test = whole(&fixtures().join("mnist/t10k-labels-idx1-ubyte.gz"));
    assert!(test.reads_it[0].ends_with("\npart = \"test\""), "{test:?}");
    check("mnist_raw/train-labels-idx1-ubyte", "idx", &["mnist", "fashion_mnist"], &["unsigned bytes"]);
}

#[test]
fn files_of_hdf5_are_whole_as_long_as_they_say() {
    for name in ["dsprites.hdf5", "shapes3d.h5", "shapes3d_plain.h5", "shapes3d_rows.h5"] {
        assert!(whole(&fixtures().join(name)).what.contains("HDF5"));
    }
}

#[test]
fn arrays_and_tables_are_inputs_of_evaluate() {
    let folder = tempfile::tempdir().unwrap();
    let [codes, images, table, tabbed, numbers] =
        ["codes.npy", "images.npy", "a table.csv", "a.tsv", "numbers.npy"].map(|name| folder.path().join(name));
    let npy = |path: &Path, descr: &str, shape: &[usize], n_bytes: usize| {
        let mut file = Vec::new();
        write_header(&mut file, descr, shape).unwrap();
        file.extend(vec![0; n_bytes]);
        fs::write(path, file).unwrap();
    };
    npy(&codes, "<f4", &[3, 2], 24);
    let recognised = whole(&codes);
    assert_eq!(recognised.details[0], "float32 [3, 2]");
    let wanted = format!("unbraid evaluate {} --factors FACTORS.npy", codes.display());
    assert_eq!(recognised.reads_it, [wanted]);
    npy(&images, "|u1", &[2, 4, 4, 3], 96);
    assert!(whole(&images).details[1].contains("numpy.savez"));
    npy(&numbers, "<i8", &[2], 16);
    assert!(whole(&numbers).reads_it[0].contains("--indices"));
    npy(&codes, "<f4", &[3, 2], 23);
    assert!(not_whole(&codes).contains("an array of shape [3, 2] was announced, but 23 bytes follow"));
    npy(&codes, "|O", &[3], 24);
    assert!(whole(&codes).details[0].starts_with("of a type that is not read"), "{:?}", whole(&codes));

    fs::write(&table, "z0,z1,shape\n0.5,1,0\n0.25,2,1\n").unwrap();
    let recognised = whole(&table);
    assert_eq!(recognised.details, ["2 rows, 3 columns: z0, z1, shape"]);
    assert_eq!(recognised.reads_it, [format!("unbraid evaluate '{}'", table.display())]);
    fs::write(&table, "z0,z1,shape\n0.5,1,0\n0.25,2").unwrap();
    assert!(not_whole(&table).contains("is not a whole table"));
    fs::write(&tabbed, "z0\tshape\n0.5\t0\n").unwrap();
    assert_eq!(whole(&tabbed).reads_it, [format!("unbraid evaluate {}", tabbed.display())]);

    let parquet = folder.path().join("a.parquet");
    fs::write(&parquet, b"PAR1values and footer\x06\0\0\0PAR1").unwrap();
    assert_eq!(whole(&parquet).reads_it, [format!("unbraid evaluate {}", parquet.display())]);
    for n_bytes in 4..fs::metadata(&parquet).unwrap().len() as usize {
        fs::write(&parquet, &b"PAR1values and footer\x06\0\0\0PAR1"[..n_bytes]).unwrap();
        assert!(not_whole(&parquet).contains("cut short"));
    }
    fs::write(&parquet, b"PAR1values\xff\0\0\0PAR1").unwrap();
    assert!(not_whole(&parquet).contains("announces a footer of 255 bytes"));
}

#[test]
fn codes_and_the_files_of_mpi3d_are_told_from_images() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    write_npz(&path, &[("codes", "<f4", &[2, 1], &[0; 8]), ("factors", "|u1", &[2, 1], &[0; 2])]);
    let recognised = whole(&path);
    assert_eq!((recognised.what.contains("codes"), recognised.reads_it.len()), (true, 1));
    assert_eq!(recognised.reads_it, [format!("unbraid evaluate {}", path.display())]);
    write_npz(&path, &[("codes", "<f4", &[2, 1], &[0; 8])]);
    assert!(whole(&path).reads_it.is_empty());

    let images = vec![7; 1_036_800];
    write_npz(&path, &[("images", "|u1", &[1_036_800, 1, 1], &images)]);
    assert_eq!(opened(&whole(&path)), ["mpi3d_toy", "mpi3d_realistic", "mpi3d_real"]);
    let named = folder.path().join("mpi3d_real.npz");
    fs::rename(&path, &named).unwrap();
    let recognised = whole(&named);
    assert_eq!(opened(&recognised), ["mpi3d_real"]);
    assert!(recognised.details.iter().any(|line| line.contains("not the published file of dataset \"mpi3d_real\"")));
    write_npz(&path, &[("images", "|u1", &[460_800, 1, 1], &images[..460_800])]);
    assert_eq!(opened(&whole(&path)), ["mpi3d_complex"]);

    write_npz(&path, &[("images", "|u1", &[2, 2, 2], &[0; 8]), ("factors", "|u1", &[3, 1], &[0; 3])]);
    assert!(not_whole(&path).contains("there are 3 rows of factors, but 2 images"));
    write_npz(&path, &[("images", "|u1", &[2, 2, 2], &[0; 7])]);
    assert!(
        not_whole(&path).contains("array \"images\": an array of shape [2, 2, 2] was announced, but 7 bytes follow")
    );
    write_npz(&path, &[("images", "<i4", &[1, 1, 1], &[0; 4])]);
    assert!(not_whole(&path).contains("wanted bytes (uint8) or floats in [0, 1], found whole numbers of 4 bytes"));
}

#[test]
fn folders_of_published_datasets_are_recognised() {
    check("cars3d", "Cars3D", &["cars3d"], &["3 cars: im ["]);
    check("smallnorb", "SmallNORB", &["smallnorb"], &["train: ", "test: "]);
    check("mnist", "MNIST", &["mnist"], &["train: ", "test: "]);
    check("mnist_raw", "MNIST", &["mnist", "fashion_mnist"], &["train: ", "same form"]);
    check("celeba", "CelebA", &["celeba"], &["12 pictures: 12 jpeg", "all of 178 x 218", "40 attributes"]);
    check("falcor3d", "a folder of pictures", &["folder"], &["numbered 0 to 15", "233280 pictures are published"]);
    check("isaac3d", "a folder of pictures", &["folder"], &["16 pictures: 16 png", "737280 pictures are published"]);
}

#[test]
fn folders_of_pictures_tell_formats_sub_folders_and_tables() {
    let details = [
        "12 pictures: 1 bmp, 1 gif, 2 jpeg, 6 png, 1 tiff, 1 webp",
        "2 other files, passed over: factors.csv, notes.txt",
        "2 sub-folders, the values of factor \"folder\": cat, dog",
        "factors.csv tells ",
    ];
    check("folder", "a folder of pictures", &["folder"], &details);
    let recognised = whole(&fixtures().join("folder"));
    assert!(recognised.reads_it[0].contains("\ncsv = "), "{recognised:?}");
    check("folder/cat", "a folder of pictures", &["folder"], &["6 pictures: 1 jpeg, 5 png"]);
    check("folder/cat/three.png", "a picture", &["folder"], &["png, 24 x 20 (width x height)"]);
    check("folder/dog/two.gif", "a picture", &["folder"], &["gif, "]);
    check("folder/factors.csv", "factors of pictures", &["folder"], &["12 rows"]);
}

#[test]
fn a_data_root_lists_what_it_holds() {
    let recognised = whole(&fixtures());
    assert!(recognised.what.starts_with("a data root"), "{recognised:?}");
    let root = fixtures().display().to_string();
    // Of the pictures of Falcor3D and Isaac3D there is only a part.
    let wanted = ["cars3d", "smallnorb", "celeba", "mnist"];
    assert_eq!(recognised.reads_it, wanted.map(|name| format!("unbraid data show {name} --data-root {root}")));
    assert!(recognised.details.contains(&"cars3d: the cars of Cars3D, whole".to_string()), "{recognised:?}");
}

#[test]
fn runs_are_recognised() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.toml"), "[dataset]\nname = \"dsprites\"\n").unwrap();
    let status = folder.path().join("status.json");
    fs::write(&status, r#"{"state":"stopped","step":5,"steps":10}"#).unwrap();
    let recognised = whole(folder.path());
    assert_eq!(recognised.what, "a run of unbraid");
    assert_eq!(recognised.details, ["dataset \"dsprites\"", "stopped at step 5 of 10"]);
    assert_eq!(recognised.reads_it[0], format!("unbraid resume {}", folder.path().display()));
    assert_eq!(recognised.reads_it[1], format!("unbraid report {}", folder.path().display()));
    cut(&status, |length| length / 2);
    assert!(not_whole(folder.path()).contains("status.json: is not JSON"));
}

#[test]
fn files_that_are_cut_are_not_whole_at_any_length() {
    let folder = tempfile::tempdir().unwrap();
    for (name, first) in [
        ("own_factors.npz", 4),
        ("mpi3d_compressed.npz", 4),
        ("dsprites.npz", 4),
        ("shapes3d_plain.h5", 8),
        ("shapes3d_rows.h5", 8),
        ("dsprites.hdf5", 8),
        ("isaac3d/labels.npy", 6),
        ("cars3d/car_001_mesh.mat", 128),
        ("cars3d/car_002_mesh.mat", 128),
        ("mnist/train-images-idx3-ubyte.gz", 40),
        ("mnist_raw/train-images-idx3-ubyte", 4),
        ("smallnorb/smallnorb-5x46789x9x18x6x2x96x96-training-dat.mat.gz", 200),
        ("smallnorb/smallnorb-5x46789x9x18x6x2x96x96-training-info.mat.gz", 40),
        ("folder/cat/one.png", 33),
        ("folder/cat/six.jpg", 33),
        ("celeba/img_align_celeba/000005.jpg", 33),
        ("folder/dog/five.jpeg", 33),
        ("folder/dog/two.gif", 33),
        ("folder/dog/three.webp", 33),
        ("folder/dog/four.tif", 33),
        ("folder/dog/one.bmp", 33),
    ] {
        let bytes = fs::read(fixtures().join(name)).unwrap();
        let path = folder.path().join(Path::new(name).file_name().unwrap());
        let step = (bytes.len() / 40).max(1);
        // The last row of a bitmap is filled up to four bytes, which are not missed.
        let last = if name.ends_with("bmp") { bytes.len() - 4 } else { bytes.len() - 1 };
        for length in (first..last).step_by(step).chain([last]) {
            fs::write(&path, &bytes[..length]).unwrap();
            // Of the first bytes of a matrix not even its kind may be left.
            if let Ok(recognised) = recognise(&path) {
                assert!(recognised.is_whole.is_err(), "{name} cut to {length} of {}: {recognised:?}", bytes.len());
            }
        }
        let text = not_whole(&path);
        assert!(text.starts_with(&path.display().to_string()) && text.contains('\n'), "{text}");
    }
}

#[test]
fn damaged_files_are_told_without_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged");
    let names = [
        "own_factors.npz",
        "own_text.npz",
        "shapes3d_rows.h5",
        "isaac3d/labels.npy",
        "cars3d/car_001_mesh.mat",
        "mnist/train-labels-idx1-ubyte.gz",
        "mnist_raw/train-labels-idx1-ubyte",
        "smallnorb/smallnorb-5x46789x9x18x6x2x96x96-training-info.mat.gz",
        "folder/cat/two.png",
        "folder/cat/six.jpg",
        "folder/dog/two.gif",
        "folder/dog/three.webp",
        "folder/dog/four.tif",
        "folder/dog/one.bmp",
        "folder/factors.csv",
    ];
    let mut rng = Seed(0).stream_at("damaged files", 0);
    for name in names {
        let whole = fs::read(fixtures().join(name)).unwrap();
        for _ in 0..200 {
            let mut bytes = whole.clone();
            for _ in 0..rng.random_range(1..=3) {
                // Beginnings decide most.
                let end = if rng.random() { bytes.len() } else { bytes.len().min(200) };
                bytes[rng.random_range(0..end)] = rng.random();
            }
            bytes.truncate(rng.random_range(bytes.len() / 2..=2 * bytes.len()).min(bytes.len()));
            fs::write(&path, bytes).unwrap();
            let _ = recognise(&path);
        }
    }
}

#[test]
fn members_with_wrong_checksums_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mpi3d.npz");
    let mut bytes = fs::read(fixtures().join("mpi3d.npz")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    let text = not_whole(&path);
    assert!(text.contains("mpi3d.npz: array \"images\": is cut short or damaged"), "{text}");
}

#[test]
fn folders_with_broken_files_name_them() {
    let root = tempfile::tempdir().unwrap();
    let copied = |name: &str| {
        copy_folder(&fixtures().join(name), &root.path().join(name));
        root.path().join(name)
    };
    let folder = copied("folder");
    cut(&folder.join("cat/one.png"), |length| length - 20);
    assert!(not_whole(&folder).contains("one.png: the picture cannot be decoded"));
    cut(&folder.join("dog/five.jpeg"), |length| length - 2);
    let text = not_whole(&folder);
    assert!(text.starts_with("2 of 12 pictures are broken: "), "{text}");
    assert!(text.contains("one.png: ") && text.contains("five.jpeg: the picture is cut short"), "{text}");
    let cars = copied("cars3d");
    cut(&cars.join("car_010_mesh.mat"), |length| length / 2);
    assert!(not_whole(&cars).contains("car_010_mesh.mat: "));
    fs::remove_file(cars.join("car_010_mesh.mat")).unwrap();
    assert!(not_whole(&cars).contains("there is no such file"));
    let norb = copied("smallnorb");
    fs::remove_file(norb.join("smallnorb-5x01235x9x18x6x2x96x96-testing-info.mat.gz")).unwrap();
    assert!(not_whole(&norb).contains("has no file called *-testing-info.mat.gz"));
    let digits = copied("mnist");
    cut(&digits.join("t10k-images-idx3-ubyte.gz"), |length| length - 9);
    assert!(not_whole(&digits).contains("t10k-images-idx3-ubyte.gz: "));
    let faces = copied("celeba");
    fs::remove_file(faces.join("img_align_celeba/000007.jpg")).unwrap();
    assert!(not_whole(&faces).contains("there is no picture "));
    // The data root tells of the first of them.
    assert!(not_whole(root.path()).contains("car_010_mesh.mat"));
}

#[test]
fn what_is_not_there_or_not_known_is_an_error_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    assert!(message(&path).contains("there is no such file or folder\n       check the path"));
    fs::write(&path, "").unwrap();
    assert!(message(&path).contains("is empty"));
    fs::write(&path, "some words").unwrap();
    assert!(message(&path).contains("is text, and of no kind that is known\n"));
    fs::write(&path, [7, 0, 1, 2, 255]).unwrap();
    assert!(message(&path).contains("is binary, and of no kind that is known\n"));
    fs::remove_file(&path).unwrap();
    assert!(message(folder.path()).contains("is a folder of no kind that is known, with 0 files"));
    fs::copy(fixtures().join("own.npz"), folder.path().join("own.npz")).unwrap();
    assert!(message(folder.path()).ends_with("name one of its files: own.npz"));
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_refused_without_waiting() {
    assert!(message(Path::new("/dev/zero")).starts_with("/dev/zero is a device, neither a file nor a folder\n"));
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("a.png");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    assert!(message(&pipe).contains("is a pipe"));
    fs::copy(fixtures().join("folder/cat/one.png"), folder.path().join("b.png")).unwrap();
    assert!(not_whole(folder.path()).contains("a.png is called like a picture, and is no file"));
    // A table or a matrix that nobody writes is passed over.
    fs::remove_file(&pipe).unwrap();
    for name in ["a.csv", "a.mat", "list.txt", "config.toml", "x-training-dat.mat", "mpi3d_toy.npz"] {
        assert!(std::process::Command::new("mkfifo").arg(folder.path().join(name)).status().unwrap().success());
    }
    recognise(folder.path()).unwrap();
}
