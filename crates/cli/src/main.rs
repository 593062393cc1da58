//! The `unbraid` command: arguments in, text out.

mod commands;
mod memory;
mod output;
mod progress;
mod watching;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use unbraid_data::error::Kind;
use unbraid_data::files::data_root::set_data_root;
use unbraid_data::notice::tell_through;
use unbraid_data::{Error, Result};

use crate::output::tell;

/// More would only wait for one another.
const MOST_THREADS: usize = 512;

/// A laboratory for disentangled representations: trains, measures and shows.
#[derive(Parser)]
#[command(name = "unbraid", version, arg_required_else_help = true)]
struct Arguments {
    /// Threads to compute with; the results are the same for any number
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,

    /// Where files of published datasets are looked for first; then in UNBRAID_DATA and in ~/.local/share/unbraid
    #[arg(long, global = true, value_name = "FOLDER")]
    data_root: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Train two models on generated images, score them, and set them side by side (about three minutes)
    Demo(commands::demo::Arguments),
    /// Print what can be named in a config: datasets, frameworks, metrics and so on, and the settings of each
    List(commands::list::Arguments),
    /// Look at a dataset: its images, its statistics, an export for numpy
    Data(commands::data::Arguments),
    /// Say whether a dataset can be disentangled, and with which loss, before anything is trained
    Doctor(commands::doctor::Arguments),
    /// Show the principal components of a dataset, and how the latents of a run lie among them
    Pca(commands::pca::Arguments),
    /// Train, measure and draw what a config describes
    Train(commands::train::Arguments),
    /// Go on with a run that was stopped or killed, or train one longer that has ended; a finished run is left as it is
    Resume(commands::resume::Arguments),
    /// Encode new images, an .npz file or a folder of pictures, with the model of a run
    Encode(commands::encode::Arguments),
    /// Score the codes of runs, or of anyone's files: .npz, .npy, .csv, .parquet
    Evaluate(commands::evaluate::Arguments),
    /// Print what every metric says of codes whose quality is known
    KnownCodes(commands::known_codes::Arguments),
    /// Mix the latents of a run or a file so that no latent's distribution tells, or undo it: the impossibility theorem, as a command
    Entangle(commands::entangle::Arguments),
    /// Learn a kernel with which a loss sees the factors of a dataset, or with --adversarial does not
    LearnKernel(commands::learn_kernel::Arguments),
    /// Change a dataset by so little that it looks the same, and VAEs entangle it
    Perturb(commands::perturb::Arguments),
    /// Draw what each latent of a run does, as PNG and GIF
    Traverse(commands::traverse::Arguments),
    /// Draw how far apart images are at every level of a run: factors, images, codes, posteriors, reconstructions
    Distances(commands::distances::Arguments),
    /// Look inside runs: active latents, what each carries and costs, and whether they move the image in directions of their own
    Inspect(commands::inspect::Arguments),
    /// Make the scores, the figures and the page of a run again
    Report(commands::report::Arguments),
    /// Make a published table or figure again, ours beside the published numbers
    Reproduce(commands::reproduce::Arguments),
    /// Search for the weight of the KL divergence at which a config's first latent goes out, by short trainings
    SuggestBeta(commands::suggest_beta::Arguments),
    /// Train many runs from one file: grids of settings, on this machine or on Slurm, each run once
    Sweep(commands::sweep::Arguments),
    /// Look at many runs together: which metrics agree, what decides a score, which settings are best; a page and one table
    Study(commands::study::Arguments),
    /// Set runs side by side: mean and spread over seeds, and paired tests where seeds match
    Compare(commands::compare::Arguments),
    /// Write runs for other programs: a table as CSV or Parquet, or offline runs for Weights & Biases
    Export(commands::export::Arguments),
    /// Measure how fast this machine is at it
    Bench(commands::bench::Arguments),
}

/// What a command came to.
enum Outcome {
    Done,
    /// The user stopped it; it can be resumed.
    Stopped,
    /// What was given is not whole, which was printed.
    NotWhole,
    /// Published numbers were not found again, which was printed.
    Differs,
    /// Some runs failed, which was printed.
    SomeFailed,
    /// A run of a sweep could not be worked on for now: an exit code of its own tells the sweep why.
    Later(u8),
}

fn main() -> ExitCode {
    memory::keep_pages();
    leave_out_panics_of_decoders();
    match run(Arguments::parse()) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Stopped) => ExitCode::from(130),
        Ok(Outcome::NotWhole) => ExitCode::from(2),
        Ok(Outcome::Differs | Outcome::SomeFailed) => ExitCode::from(1),
        Ok(Outcome::Later(code)) => ExitCode::from(code),
        Err(error) => {
            tell(format!("error: {error}"));
            ExitCode::from(match error.kind() {
                Kind::Input => 2,
                Kind::Failure => 1,
            })
        }
    }
}

/// A panic while a Parquet file is read tells that the file is damaged, which is told as an error; it is not printed as well.
fn leave_out_panics_of_decoders() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !unbraid_formats::parquet::is_reading() {
            usual(panic);
        }
    }));
}

fn run(arguments: Arguments) -> Result<Outcome> {
    if let Some(threads) = arguments.threads {
        if !(1..=MOST_THREADS).contains(&threads) {
            return Err(Error::new(format!("--threads is {threads}")).help(format!("wanted 1 to {MOST_THREADS}")));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|error| Error::failure(format!("{threads} threads cannot be started: {error}")))?;
    }
    let data_root = arguments.data_root;
    if let Some(folder) = &data_root {
        if !folder.is_dir() {
            return Err(
                Error::new(format!("--data-root: there is no folder {}", folder.display())).help("check the path")
            );
        }
        set_data_root(folder.clone());
    }
    tell_through(|line| tell(format!("note: {line}")));
    match arguments.command {
        Command::Demo(arguments) => commands::demo::run(&arguments),
        Command::List(arguments) => commands::list::run(&arguments),
        Command::Data(arguments) => commands::data::run(&arguments),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Pca(arguments) => commands::pca::run(&arguments),
        Command::Train(arguments) => commands::train::run(&arguments),
        Command::Resume(arguments) => commands::resume::run(&arguments),
        Command::Encode(arguments) => commands::encode::run(&arguments),
        Command::Evaluate(arguments) => commands::evaluate::run(&arguments),
        Command::KnownCodes(arguments) => commands::known_codes::run(&arguments),
        Command::Entangle(arguments) => commands::entangle::run(&arguments),
        Command::LearnKernel(arguments) => commands::learn_kernel::run(&arguments),
        Command::Perturb(arguments) => commands::perturb::run(&arguments),
        Command::Traverse(arguments) => commands::traverse::run(&arguments),
        Command::Distances(arguments) => commands::distances::run(&arguments),
        Command::Inspect(arguments) => commands::inspect::run(&arguments),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::Reproduce(arguments) => commands::reproduce::run(&arguments, data_root.as_deref()),
        Command::SuggestBeta(arguments) => commands::suggest_beta::run(&arguments),
        Command::Sweep(arguments) => commands::sweep::run(&arguments, data_root.as_deref()),
        Command::Study(arguments) => commands::study::run(&arguments),
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Export(arguments) => commands::export::run(&arguments),
        Command::Bench(arguments) => commands::bench::run(&arguments),
    }
}
