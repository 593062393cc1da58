//! `unbraid encode`: new images through the encoder of a run.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use toml::{Table, Value};
use unbraid_data::{Error, Result};
use unbraid_experiment::config::{apply_override, in_place};
use unbraid_experiment::new_images::ModelOfRun;
use unbraid_formats::npz_writer::write_encoded;

use super::inputs::check_npz_name;
use crate::Outcome;
use crate::output::print;
use crate::progress::Progress;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the run
    run: PathBuf,

    /// The images: an .npz file with the array `images`, or a folder of pictures
    images: PathBuf,

    /// The .npz file to write: codes, what else the posterior has, factors and file names where there are any
    #[arg(long, value_name = "FILE.npz")]
    out: PathBuf,

    /// A setting of the images, as of dataset "npz" or "folder": channels=1, csv=factors.csv
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    check_npz_name(&arguments.out)?;
    let same = |path: &Path| path.canonicalize().ok();
    if same(&arguments.out).is_some_and(|out| same(&arguments.images) == Some(out)) {
        return Err(
            Error::new(format!("{} holds the images themselves", arguments.out.display())).help("name another file")
        );
    }
    let model = ModelOfRun::open(&arguments.run)?;
    let name = if arguments.images.is_dir() { "folder" } else { "npz" };
    let settings = settings(name, &arguments.images, &arguments.set, model.image_shape().channels)?;
    let images = model.open_images(name, &settings);
    let images = images.map_err(|error| in_place(error, &format!("dataset \"{name}\"")))?;
    let mut progress = Progress::new();
    progress.stage("encoding", images.n_images() as u64);
    let rows = ModelOfRun::in_file_order(images.as_ref());
    let encoded = model.encode(images.as_ref(), &rows, |done| {
        progress.progress(done as u64);
        ControlFlow::Continue(())
    })?;
    progress.finish();
    let data = encoded.ok_or_else(|| Error::failure("encoding was broken off"))?;
    let names: Vec<String> = rows.iter().filter_map(|&row| images.image_name(row)).collect();
    write_encoded(&arguments.out, &data, &names)?;
    print(arguments.out.display())?;
    Ok(Outcome::Done)
}

fn settings(name: &str, images: &Path, changes: &[String], channels: usize) -> Result<Table> {
    let mut settings = Table::new();
    settings.insert("path".to_string(), Value::String(images.display().to_string()));
    if name == "folder" && channels == 1 {
        settings.insert("channels".to_string(), Value::Integer(1));
    }
    if let Some(change) = changes.iter().find(|change| change.split('=').next().map(str::trim) == Some("path")) {
        return Err(
            Error::new(format!("--set {change}: the images are those that the command names")).help("leave it out")
        );
    }
    changes.iter().try_for_each(|change| apply_override(&mut settings, change))?;
    Ok(settings)
}
