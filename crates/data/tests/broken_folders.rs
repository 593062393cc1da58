//! Broken folders of pictures, lists and tables are refused with one error that names the file and what is wrong in it, and so
//! are paths that lead to something else than a file.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod copied;

use std::path::Path;
use std::process::Command;

use copied::{Copied, opened, refused};
use unbraid_data::datasets::read_numbered;
use unbraid_data::error::Kind;

const FALCOR: &str = "factor_sizes = [2, 2, 2, 1, 1, 2, 1]";
const ATTRIBUTES: &str = "list_attr_celeba.txt";

#[test]
fn files_that_are_no_pictures_are_passed_over_by_their_names() {
    let folder = Copied::of("folder");
    folder.write("cat/more.txt", "some text");
    folder.write("cat/.hidden.png", "some text");
    assert_eq!(folder.opened("folder", "").unwrap().n_images(), 12);
    folder.write("cat/text.png", "some text");
    folder.refused("folder", "", "cat/text.png", &["is not a picture of a known format"]);
    folder.write("cat/text.png", "");
    folder.refused("folder", "", "cat/text.png", &["is not a picture of a known format"]);
}

#[test]
fn pictures_that_are_cut_short_are_refused() {
    let names = ["cat/one.png", "cat/six.jpg", "dog/one.bmp", "dog/two.gif", "dog/three.webp", "dog/four.tif"];
    for name in names {
        let folder = Copied::of("folder");
        let whole = folder.bytes(name);
        for n_bytes in [13, whole.len() / 4, whole.len() / 2] {
            folder.write(name, &whole[..n_bytes]);
            folder.refused("folder", "", name, &["the picture cannot be decoded", "damaged"]);
        }
    }
    let folder = Copied::of("folder");
    folder.write("huge.ppm", "P6\n30000 30000\n255\nabc");
    folder.refused("folder", "", "huge.ppm", &["too large"]);
    // In grey it would fit, but not beside its copy in colour.
    folder.write("huge.ppm", "P5\n12000 12000\n255\nabc");
    folder.refused("folder", "", "huge.ppm", &["too large", "256 MB"]);
    let folder = Copied::of("celeba");
    let picture = "img_align_celeba/000003.jpg";
    folder.write(picture, &folder.bytes(picture)[..300]);
    folder.refused("celeba", "", picture, &["the picture cannot be decoded"]);
}

#[test]
fn a_folder_without_pictures_says_so() {
    let folder = Copied::of("folder");
    for name in ["cat", "dog"] {
        std::fs::remove_dir_all(folder.at(name)).unwrap();
    }
    folder.refused("folder", "", "", &["holds no picture", "png, jpg"]);
}

/// Opens the folder with a table of factors that was changed.
#[track_caller]
fn table(change: impl FnOnce(&Copied), words: &[&str]) {
    let folder = Copied::of("folder");
    change(&folder);
    let settings = format!("csv = '{}'", folder.at("factors.csv").display());
    folder.refused("folder", &settings, "factors.csv", words);
}

#[test]
fn broken_tables_of_factors_are_refused() {
    let csv = "factors.csv";
    let line = |text: &'static str| {
        move |folder: &Copied| folder.write(csv, [&folder.bytes(csv)[..], text.as_bytes()].concat())
    };
    table(|folder| folder.replace(csv, "file,", "path,"), &["there is no column \"file\"", "path, angle, size"]);
    table(|folder| folder.write(csv, ""), &["there is no column \"file\""]);
    table(
        |folder| folder.replace(csv, "dog/two.gif", "dog/too.gif"),
        &["line 3", "\"dog/too.gif\"", "no such picture"],
    );
    table(|folder| folder.replace(csv, "dog/two.gif,75.94,1\n", ""), &["no row names the picture \"dog/two.gif\""]);
    table(line("dog/two.gif,1,2\n"), &["line 14", "\"dog/two.gif\" a second time"]);
    table(line("dog/two.gif,1\n"), &["line 14 has 2 cells", "3"]);
    table(|folder| folder.replace(csv, "75.94", "inf"), &["line 3", "\"angle\"", "\"inf\""]);
    table(|folder| folder.replace(csv, "75.94", ""), &["line 3", "\"angle\"", "empty"]);
    table(|folder| folder.replace(csv, "75.94,1", "75.94,12345678"), &["\"size\" would take 12345679 values"]);
    table(|folder| folder.replace(csv, "angle", "size"), &["two factors are called \"size\""]);
    table(|folder| folder.replace(csv, "angle", "folder"), &["two factors are called \"folder\""]);
    table(|folder| folder.write(csv, b"file,angle\ncat/one.png,\xff\xfe\n"), &["line 2 is not UTF-8"]);
    table(|folder| folder.write(csv, b"file,\xe9t\xe9\n"), &["line 1 is not UTF-8"]);
    table(|folder| std::fs::remove_file(folder.at(csv)).unwrap(), &["there is no such file"]);
    let as_folder = |folder: &Copied| {
        std::fs::remove_file(folder.at(csv)).unwrap();
        std::fs::create_dir(folder.at(csv)).unwrap();
    };
    table(as_folder, &["it is a folder"]);
}

#[test]
fn broken_lists_of_faces_are_refused() {
    let attributes = |change: &dyn Fn(&Copied), words: &[&str]| {
        let faces = Copied::of("celeba");
        change(&faces);
        faces.refused("celeba", "", ATTRIBUTES, words);
    };
    let first_lines = |n_lines: usize| {
        move |faces: &Copied| {
            let text = String::from_utf8(faces.bytes(ATTRIBUTES)).unwrap();
            faces.write(ATTRIBUTES, text.lines().take(n_lines).collect::<Vec<_>>().join("\n"));
        }
    };
    attributes(&|faces| faces.replace(ATTRIBUTES, "000004.jpg", "000077.jpg"), &["line 6", "no picture", "000077.jpg"]);
    let missing = |faces: &Copied| std::fs::remove_file(faces.at("img_align_celeba/000012.jpg")).unwrap();
    attributes(&missing, &["line 14", "no picture", "000012.jpg"]);
    attributes(&first_lines(10), &["12 pictures are announced, but 8 lines follow"]);
    attributes(&first_lines(1), &["the second line does not name the attributes"]);
    attributes(&first_lines(0), &["the first line is not the number of pictures"]);
    attributes(&|faces| faces.replace(ATTRIBUTES, "12\n", "13\n"), &["13 pictures are announced, but 12 lines"]);
    attributes(&|faces| faces.replace(ATTRIBUTES, "12\n", "twelve\n"), &["the first line is not the number"]);
    attributes(
        &|faces| faces.replace(ATTRIBUTES, "000001.jpg  1  1", "000001.jpg  1  2"),
        &["line 3: attribute Arched_Eyebrows is \"2\"", "wanted -1 or 1"],
    );
    attributes(&|faces| faces.replace(ATTRIBUTES, "000001.jpg  1", "000001.jpg"), &["line 3: has 39 attributes", "40"]);
    attributes(&|faces| faces.replace(ATTRIBUTES, "Attractive", "Bald"), &["names the attribute Bald twice"]);
    attributes(&|faces| faces.write(ATTRIBUTES, "0\nBald\n"), &["names no picture"]);
    attributes(&|faces| faces.write(ATTRIBUTES, [0xff, 0xfe, 0]), &["UTF-8"]);
    attributes(&|faces| std::fs::remove_file(faces.at(ATTRIBUTES)).unwrap(), &["there is no such file"]);
    let faces = Copied::of("celeba");
    std::fs::remove_dir_all(faces.at("img_align_celeba")).unwrap();
    faces.refused("celeba", "", "", &["has no folder img_align_celeba"]);
}

#[test]
fn numbered_pictures_have_all_numbers_and_no_other_names() {
    let room = Copied::of("falcor3d");
    room.refused("falcor3d", "", "", &["has 16 images, wanted 233280", "factor_sizes"]);
    room.refused("isaac3d", "factor_sizes = [2, 2, 2, 2, 1, 1, 1, 1, 2]", "", &["has 16 images, wanted 32"]);
    std::fs::rename(room.at("images/000005.png"), room.at("images/000016.png")).unwrap();
    room.refused("falcor3d", FALCOR, "images/000006.png", &["picture 5 is missing"]);
    std::fs::rename(room.at("images/000016.png"), room.at("images/five.png")).unwrap();
    room.refused("falcor3d", FALCOR, "images/five.png", &["has no number for a name", "000000.png"]);
    std::fs::rename(room.at("images/five.png"), room.at("images/6.png")).unwrap();
    room.refused("falcor3d", FALCOR, "images/000006.png", &["picture 5 is missing"]);
    std::fs::remove_file(room.at("images/6.png")).unwrap();
    room.refused("falcor3d", FALCOR, "", &["the folder has 15 images, wanted 16"]);
    for sizes in ["[2, 2, 2]", "[2, 2, 2, 1, 1, 2, 0]"] {
        let error = room.opened("falcor3d", &format!("factor_sizes = {sizes}")).err().unwrap().to_string();
        assert!(error.contains("setting \"factor_sizes\" is [2, 2, 2"), "{error}");
    }
}

#[test]
fn a_picture_that_changes_is_an_error() {
    let folder = Copied::of("folder");
    let dataset = folder.opened("folder", "").unwrap();
    let mut pixels = vec![0.0; dataset.image_shape().n_pixels()];
    let number = |name: &str| (0..12).find(|&number| dataset.image_name(number).unwrap().ends_with(name)).unwrap();
    let change = |name: &str, bytes: &[u8]| folder.write(name, bytes);
    change("cat/one.png", &folder.bytes("cat/one.png")[..100]);
    change("cat/two.png", &folder.bytes("cat/four.png"));
    change("dog/one.bmp", b"");
    for name in ["cat/one.png", "cat/two.png", "dog/one.bmp"] {
        let error = read_numbered(&*dataset, number(name), &mut pixels).unwrap_err();
        assert!(error.to_string().contains(&format!("{name} was changed while it was read")), "{error}");
        assert_eq!(error.kind(), Kind::Failure);
    }
    std::fs::remove_file(folder.at("dog/two.gif")).unwrap();
    let error = read_numbered(&*dataset, number("dog/two.gif"), &mut pixels).unwrap_err().to_string();
    assert!(error.contains("dog/two.gif: there is no such file"), "{error}");
    read_numbered(&*dataset, number("dog/six.PNG"), &mut pixels).unwrap();
}

#[test]
fn a_folder_is_no_file_and_a_file_no_folder() {
    for dataset in ["npz", "mpi3d_real"] {
        Copied::of("mnist").refused(dataset, "", "", &["is a folder", "name a file"]);
    }
    let file = Copied::of("own.npz");
    for (dataset, word) in [
        ("folder", "not a folder"),
        ("cars3d", "not a folder"),
        ("smallnorb", "not a folder"),
        ("falcor3d", "not a folder"),
        ("celeba", "has no folder"),
        ("mnist", "has no train-images"),
    ] {
        file.refused(dataset, "", "", &[word]);
    }
    for dataset in ["npz", "folder", "mpi3d_toy", "cars3d", "smallnorb", "isaac3d", "celeba", "fashion_mnist"] {
        let nowhere = Path::new("/no/such/place");
        refused(dataset, nowhere, "", nowhere, &["there is no"]);
    }
    let toys = Copied::of("smallnorb");
    let categories = "smallnorb-5x46789x9x18x6x2x96x96-training-cat.mat.gz";
    std::fs::remove_file(toys.at(categories)).unwrap();
    std::fs::create_dir(toys.at(categories)).unwrap();
    toys.refused("smallnorb", "", categories, &["is a folder"]);
}

/// Opening a pipe would wait for ever, and a device may give bytes without an end.
#[test]
#[cfg(unix)]
fn pipes_and_devices_are_refused_before_they_are_read() {
    for device in ["/dev/zero", "/dev/null"] {
        for dataset in ["npz", "mpi3d_real"] {
            refused(dataset, Path::new(device), "", Path::new(device), &["is a pipe or a device"]);
        }
    }
    let settings = "csv = '/dev/zero'";
    let folder = Copied::of("folder");
    refused("folder", &folder.path(), settings, Path::new("/dev/zero"), &["is a pipe or a device"]);
    let piped = |copied: &Copied, name: &str| {
        let _ = std::fs::remove_file(copied.at(name));
        assert!(Command::new("mkfifo").arg(copied.at(name)).status().unwrap().success());
    };
    piped(&folder, "cat/pipe.png");
    folder.refused("folder", "", "cat/pipe.png", &["is a pipe or a device"]);
    for (name, dataset, member) in [
        ("celeba", "celeba", ATTRIBUTES),
        ("cars3d", "cars3d", "car_002_mesh.mat"),
        ("smallnorb", "smallnorb", "smallnorb-5x46789x9x18x6x2x96x96-training-info.mat.gz"),
    ] {
        let copied = Copied::of(name);
        piped(&copied, member);
        copied.refused(dataset, "", member, &["is a pipe or a device"]);
    }
    let digits = Copied::of("mnist_raw");
    piped(&digits, "train-images-idx3-ubyte");
    digits.refused("mnist", "", "", &["has no train-images-idx3-ubyte.gz"]);
}

#[test]
#[cfg(unix)]
fn files_that_may_not_be_read_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let forbid = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
    let own = Copied::of("own.npz");
    forbid(&own.path());
    if std::fs::read(own.path()).is_ok() {
        // Nothing is forbidden to the administrator.
        return;
    }
    own.refused("npz", "", "", &["ermission denied"]);
    for (name, dataset, member) in [
        ("folder", "folder", "cat/one.png"),
        ("celeba", "celeba", ATTRIBUTES),
        ("cars3d", "cars3d", "car_001_mesh.mat"),
        ("mnist_raw", "mnist", "train-images-idx3-ubyte"),
    ] {
        let copied = Copied::of(name);
        forbid(&copied.at(member));
        copied.refused(dataset, "", member, &["ermission denied"]);
    }
    let folder = Copied::of("falcor3d");
    forbid(&folder.at("images"));
    assert!(opened("falcor3d", &folder.path(), FALCOR).err().unwrap().to_string().contains("ermission denied"));
    std::fs::set_permissions(folder.at("images"), std::fs::Permissions::from_mode(0o700)).unwrap();
}
