//! `unbraid inspect`: what is inside trained runs: active and passive latents, what each carries and costs, and whether they move the image in
//! directions of their own.

use std::path::PathBuf;

use unbraid_data::{Error, Result};
use unbraid_experiment::inspect::{
    InspectSettings, Inspected, Inspection, Several, Verdict, inspect, inspection_json, latents_rows, several_json,
    several_rows, verdict, write_page, write_page_of_several,
};
use unbraid_experiment::jacobians::Way;
use unbraid_report::tables::numbers_table;

use super::{page_folder, table_width, tell_page};
use crate::Outcome;
use crate::output::print;
use crate::progress::Progress;

const MORE: &str = "\
A diagonal posterior makes a VAE spend precision where images vary most, and turns its latents until each moves the image in a direction of its own
(T4 chapter 3). This tells of trained runs how far that went: which latents are active, what each carries and costs, the distance to orthogonality (DtO)
beside that of a random rotation, and shows what the first latents do. Of several runs also whether low DtO goes with disentanglement.

`unbraid inspect runs/a` writes runs/a/inspect/inspect.html, `unbraid inspect runs/a runs/b` inspect/inspect.html. docs/inside.md tells how to read it.";

/// More Jacobians are not asked for: their mean is known to a hundredth long before.
const MOST_IMAGES: u64 = 100_000;

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    /// The folders of runs
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,

    /// Print JSON: everything that was found, and why something does not apply
    #[arg(long)]
    json: bool,

    /// Where the page and its pictures go [default: RUN/inspect, or inspect for several runs; with --json none are written unless this is given]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    /// Jacobians of the decoder by backward passes, which takes minutes for pictures, in place of central differences
    #[arg(long)]
    exact: bool,

    /// How far eigen-images and planes go to each side of the mean code, above 0 and up to 1000000
    #[arg(long, value_name = "A", default_value_t = 2.5, allow_negative_numbers = true)]
    alpha: f64,

    /// Two latents that are moved against each other, such as 0,3; may be given several times [default: the first two in order]
    #[arg(long, value_name = "I,J", allow_hyphen_values = true)]
    plane: Vec<String>,

    /// At how many images the decoder's Jacobian is taken, 1 to 100000
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=MOST_IMAGES), allow_negative_numbers = true)]
    images: u64,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let settings = arguments.settings()?;
    check_named_once(&arguments.runs)?;
    let mut progress = Progress::new();
    let mut inspected = Vec::new();
    for path in &arguments.runs {
        inspected.push(inspect(path, &settings, &mut progress)?);
    }
    progress.stage("drawing", 0);
    let (out, json) = (arguments.out.as_deref(), arguments.json);
    match &inspected[..] {
        [one] => {
            let folder = page_folder(out, json, || one.run.folder.path().join("inspect"));
            let written = folder.map(|folder| write_page(one, &settings, &folder)).transpose()?;
            progress.clear();
            match json {
                true => print(format!("{:#}", inspection_json(&one.found)))?,
                false => print_run(&one.found)?,
            }
            tell_page(written.as_deref(), json)?;
        }
        several => {
            let compared = Several::of(several.iter().map(|one: &Inspected| one.found.clone()).collect());
            let folder = page_folder(out, json, || PathBuf::from("inspect"));
            let written =
                folder.map(|folder| write_page_of_several(several, &compared, &settings, &folder)).transpose()?;
            progress.clear();
            match json {
                true => print(format!("{:#}", several_json(&compared)))?,
                false => print_several(&compared)?,
            }
            tell_page(written.as_deref(), json)?;
        }
    }
    Ok(Outcome::Done)
}

impl Arguments {
    fn settings(&self) -> Result<InspectSettings> {
        let planes = self.plane.iter().map(|text| plane(text)).collect::<Result<Vec<[usize; 2]>>>()?;
        let way = if self.exact { Way::Exact } else { Way::Differences };
        Ok(InspectSettings { images: self.images as usize, way, alpha: self.alpha, planes })
    }
}

/// Refuses a run that is named twice, by whichever path: it would count as two.
fn check_named_once(runs: &[PathBuf]) -> Result<()> {
    let places: Vec<Option<PathBuf>> = runs.iter().map(|run| run.canonicalize().ok()).collect();
    for (position, place) in places.iter().enumerate() {
        if place.is_some() && places[..position].contains(place) {
            return Err(Error::new(format!("{} is named twice", runs[position].display())).help("leave one out"));
        }
    }
    Ok(())
}

/// `0,3` or `z0,z3`.
fn plane(text: &str) -> Result<[usize; 2]> {
    let numbers: Vec<Option<usize>> =
        text.split(',').map(|part| part.trim().trim_start_matches('z').parse().ok()).collect();
    match numbers[..] {
        [Some(one), Some(other)] => Ok([one, other]),
        _ => Err(Error::new(format!("--plane is \"{text}\"")).help("wanted the numbers of two latents, such as 0,3")),
    }
}

fn print_run(found: &Inspection) -> Result<()> {
    let told = verdict(found);
    print(&told.summary)?;
    let (header, rows) = latents_rows(found);
    print(format!("\n{}", as_table(&header, &rows)))?;
    print_parts(&told)?;
    for (what, why) in found.left_out_by_reason() {
        print(format!("\nleft out: {what}: {why}"))?;
    }
    Ok(())
}

fn print_parts(told: &Verdict) -> Result<()> {
    for (heading, text) in &told.parts {
        print(format!("\n{heading}: {text}"))?;
    }
    Ok(())
}

fn print_several(several: &Several) -> Result<()> {
    let told = several.verdict();
    print(&told.summary)?;
    let (header, rows) = several_rows(several);
    print(format!("\n{}", as_table(&header, &rows)))?;
    print_parts(&told)
}

fn as_table(header: &[String], rows: &[Vec<String>]) -> String {
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    numbers_table(&header, rows, table_width()).trim_end().to_string()
}
