//! The page of one run that was looked inside, or of several.

use std::path::{Path, PathBuf};

use unbraid_data::Result;
use unbraid_data::folders::remove_files;
use unbraid_data::whole_file::{create_folder, write_whole};
use unbraid_data::words::{counted, quoted};
use unbraid_report::Canvas;
use unbraid_report::figures::curves::Panels;
use unbraid_report::page::{Folded, InspectPage, PageFigure, PageTable, inspect_page};

use super::pictures::{
    EIGEN_ROWS, codes, eigen_images, latents_over_training, local_decoders, n_movable, n_of_mean_code,
    orthogonality_and_scores, plane, planes, relative_errors, why_no_pictures,
};
use super::table::latents_caption;
use super::{
    Directions, InspectSettings, Inspected, Inspection, Several, directions_rows, latents_rows, several_rows, verdict,
};
use crate::jacobians::Way;
use crate::pictures::narrow_name;

const EIGEN: &str = "in the middle column, and in each row one latent moved to both sides, those with the least mean posterior variance first: what the first ones do changes the image most (T4 figure 3.6). A row without change is a passive latent.";
const PLANE: &str = "Two latents moved against each other around the mean code. Where columns change one thing and rows another, the two are a cartesian pair (T4 figure 4.10); where one thing changes with the angle and another with the distance from the middle, a polar one (T4 figure 4.11).";
const REGIME: &str = "How far the divergence is from what the active latents alone have (T4 equation 3.38), of up to 256 of the images that are scored, at each checkpoint and after the last step. Below the line of 3 % each latent is wholly active or passive (T4 table 3.2 tells how soon).";
const LATENTS: &str = "Mean posterior variance and deviation of means of each latent while the run was trained, of up to 256 images. Passive latents go to a variance of 1 and a deviation of 0, active ones to a small variance and a deviation of about 1 (T4 definition 1).";
const LOCAL: &str = "Left: the distance of the decoder's own directions from the latents' axes at each of the sampled codes, beside that of rotations drawn at random; 0 is a latent for each direction (T4 equation 3.25, table 3.3). Right: by how much the decoder stretches codes along these directions, of the first eight. Bars are means. Neighbours at the same height leave it open which way their latents are turned (T4 3.3.4).";
const CODES: &str = "Codes of some of the points, told apart by which half of each factor they lie in. Quarters whose borders run along the axes are aligned with the factors (T4 figure 3.5 shows the opposite).";
const SEVERAL: &str = "A point for each run. Where points fall from left to right, runs whose latents move images in directions of their own are the disentangled ones (T4 figure 3.4).";

/// What names of pictures begin with, after the number of a run where there are several.
const PICTURES: [&str; 7] = [
    "codes.",
    "eigen-images",
    "latents-over-training",
    "local-decoders",
    "orthogonality",
    "plane-z",
    "relative-kl-error",
];

/// Writes `inspect.html` and its pictures into a folder, and tells their paths, that of the page first.
pub fn write_page(inspected: &Inspected, settings: &InspectSettings, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut sheet = Sheet::new(folder)?;
    let figures = sheet.pictures(inspected, settings)?;
    let found = &inspected.found;
    let mut folded = Vec::new();
    let (figures_of_directions, tables) = (sheet.local_decoders(found)?, tables_of_directions(found));
    if !tables.is_empty() {
        let summary = "Directions and singular values of local decoders".to_string();
        folded.push(Folded { summary, tables, figures: figures_of_directions });
    }
    let over_training = sheet.over_training(found)?;
    if !over_training.is_empty() {
        folded.push(Folded { summary: "Over training".to_string(), tables: Vec::new(), figures: over_training });
    }
    let told = verdict(found);
    let page = InspectPage {
        title: format!("Inside {}", found.name),
        lead: sentence(&told.summary),
        verdicts: told.parts,
        tables: vec![table_of_latents(found)],
        figures,
        folded,
        notes: notes(found),
        commands: commands(found),
    };
    sheet.finish(&page)
}

/// The same of several runs: what holds over all, and each run folded away.
pub fn write_page_of_several(
    runs: &[Inspected],
    several: &Several,
    settings: &InspectSettings,
    folder: &Path,
) -> Result<Vec<PathBuf>> {
    let mut sheet = Sheet::new(folder)?;
    let mut figures = Vec::new();
    if let Some(canvas) = orthogonality_and_scores(several) {
        figures.push(sheet.add("orthogonality and disentanglement", "orthogonality", SEVERAL, &canvas, None)?);
    }
    let mut folded = Vec::new();
    for (number, inspected) in runs.iter().enumerate() {
        let found = &inspected.found;
        sheet.prefix = format!("{}-", number + 1);
        let mut figures = sheet.pictures(inspected, settings)?;
        figures.extend(sheet.local_decoders(found)?);
        figures.extend(sheet.over_training(found)?);
        folded.push(Folded {
            summary: format!("{}: {}", found.path.display(), verdict(found).summary),
            tables: std::iter::once(table_of_latents(found)).chain(tables_of_directions(found)).collect(),
            figures,
        });
    }
    let (header, rows) = several_rows(several);
    let caption = "DtO of all latents, and of those whose codes vary, each beside what a rotation drawn at random has; the relative KL error at the end, and from when on it stays below 3 % (share of all checkpoints, of up to 256 images); DS and MIG as the run scored them.";
    let told = several.verdict();
    let page = InspectPage {
        title: format!("Inside {} runs", runs.len()),
        lead: sentence(&told.summary),
        verdicts: told.parts.into_iter().filter(|(heading, _)| heading == "Careful").collect(),
        tables: vec![PageTable { name: "runs".to_string(), caption: caption.to_string(), header, rows }],
        figures,
        folded,
        notes: runs.first().map_or_else(Vec::new, |inspected| method_notes(&inspected.found)),
        commands: Vec::new(),
    };
    sheet.finish(&page)
}

/// The folder that figures go to on their way to a page.
struct Sheet {
    folder: PathBuf,
    prefix: String,
    written: Vec<PathBuf>,
}

impl Sheet {
    fn new(folder: &Path) -> Result<Self> {
        create_folder(folder)?;
        // Pictures of an earlier call with other planes, or more runs, would stay beside the page. Where there is no page they are somebody else's.
        if folder.join("inspect.html").exists() {
            remove_files(folder, is_own_picture)?;
        }
        Ok(Self { folder: folder.to_path_buf(), prefix: String::new(), written: Vec::new() })
    }

    /// Writes a figure, and once more for narrow screens where that differs.
    fn add(
        &mut self,
        name: &str,
        file: &str,
        caption: &str,
        canvas: &Canvas,
        narrow: Option<Canvas>,
    ) -> Result<PageFigure> {
        let file = format!("{}{file}.png", self.prefix);
        self.written.push(self.folder.join(&file));
        canvas.save(&self.folder.join(&file))?;
        if let Some(narrow) = &narrow {
            let path = self.folder.join(narrow_name(&file));
            narrow.save(&path)?;
            self.written.push(path);
        }
        let narrow = narrow.map(|canvas| canvas.to_png()).transpose()?;
        Ok(PageFigure { name: name.to_string(), caption: caption.to_string(), bytes: canvas.to_png()?, narrow })
    }

    /// What the first latents do; of two latents of points, their codes.
    fn pictures(&mut self, inspected: &Inspected, settings: &InspectSettings) -> Result<Vec<PageFigure>> {
        let Inspected { run, data, .. } = inspected;
        if why_no_pictures(run).is_some() {
            return match data.n_latents() {
                2 => Ok(vec![self.add("codes", "codes", CODES, &codes(data), None)?]),
                _ => Ok(Vec::new()),
            };
        }
        let (canvas, narrow) = eigen_images(inspected, settings)?;
        let caption = eigen_caption(inspected);
        let mut figures = vec![self.add("nonlinear eigen-images", "eigen-images", &caption, &canvas, Some(narrow))?];
        for [across, up] in planes(inspected, settings) {
            let canvas = plane(inspected, [across, up], settings)?;
            let (name, file) = (format!("plane of z{across} and z{up}"), format!("plane-z{across}-z{up}"));
            figures.push(self.add(&name, &file, PLANE, &canvas, None)?);
        }
        Ok(figures)
    }

    fn local_decoders(&mut self, found: &Inspection) -> Result<Vec<PageFigure>> {
        let Some(directions) = shown_directions(found) else { return Ok(Vec::new()) };
        Ok(vec![self.add("local decoders", "local-decoders", LOCAL, &local_decoders(directions), None)?])
    }

    fn over_training(&mut self, found: &Inspection) -> Result<Vec<PageFigure>> {
        let Ok(rows) = &found.regime.over_training else { return Ok(Vec::new()) };
        let [beside, stacked] = [Panels::Beside, Panels::Stacked].map(|set| latents_over_training(rows, set));
        Ok(vec![
            self.add("polarized regime", "relative-kl-error", REGIME, &relative_errors(rows), None)?,
            self.add("latents over training", "latents-over-training", LATENTS, &beside, Some(stacked))?,
        ])
    }

    /// Writes the page; its path is told first.
    fn finish(mut self, page: &InspectPage) -> Result<Vec<PathBuf>> {
        let path = self.folder.join("inspect.html");
        write_whole(&path, inspect_page(page).as_bytes())?;
        self.written.insert(0, path);
        Ok(self.written)
    }
}

/// Whether a file is one of the pictures of a page, of whichever run and planes.
fn is_own_picture(name: &str) -> bool {
    let after_number = name.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let of_one = if after_number.len() < name.len() { after_number.strip_prefix('-').unwrap_or(name) } else { name };
    name.ends_with(".png") && PICTURES.iter().any(|known| of_one.starts_with(known))
}

/// The directions of the latents whose codes vary, where there are several; else of all.
fn shown_directions(found: &Inspection) -> Option<&Directions> {
    found.active_directions.as_ref().filter(|directions| directions.n_latents > 1).or(found.directions.as_ref())
}

/// What is drawn, of how many images, and of how many of the latents.
fn eigen_caption(inspected: &Inspected) -> String {
    let images = counted(n_of_mean_code(&inspected.data), "image");
    let shown = match n_movable(inspected) {
        movable if movable > EIGEN_ROWS => format!(" The first {EIGEN_ROWS} of {movable} latents are drawn."),
        _ => String::new(),
    };
    format!("The decoder at the mean code of {images} {EIGEN}{shown}")
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn table_of_latents(found: &Inspection) -> PageTable {
    let (header, rows) = latents_rows(found);
    PageTable { name: "latents".to_string(), caption: latents_caption(found), header, rows }
}

fn tables_of_directions(found: &Inspection) -> Vec<PageTable> {
    let table = |directions: &Directions, what: &str| {
        let (header, rows) = directions_rows(directions);
        let dto = directions.dto.map_or("not defined".to_string(), |dto| format!("{dto:.3}"));
        let caption = format!(
            "DtO {dto}; a random rotation has {:.3} ± {:.3}. Singular values of the decoder at {} codes, and the median over codes of each over the next.",
            directions.random.mean,
            directions.random.deviation,
            directions.distances.len()
        );
        PageTable { name: format!("singular values of {what}"), caption, header, rows }
    };
    let of_all = found.directions.as_ref().map(|directions| table(directions, "all latents"));
    let differs = |directions: &&Directions| directions.n_latents < found.latents.len();
    let of_active = found
        .active_directions
        .as_ref()
        .filter(differs)
        .map(|directions| table(directions, "latents whose codes vary"));
    of_active.into_iter().chain(of_all).collect()
}

fn notes(found: &Inspection) -> Vec<String> {
    let left_out = found.left_out_by_reason().into_iter().map(|(what, why)| format!("Left out: {what}: {why}."));
    left_out.chain(method_notes(found)).collect()
}

fn method_notes(found: &Inspection) -> Vec<String> {
    let way = match found.way {
        Way::Differences => "central differences of the pictures as shown",
        Way::Exact => "backward passes",
    };
    vec![
        format!("Jacobians of the decoder are taken by {way} at {} codes, spread evenly over the images that are scored.", found.n_codes),
        "Latents that take part in \"DtO of active\" and in the relative KL error are those whose codes have a deviation above 0.5, whatever their variance (T4 3.3.2).".to_string(),
        "Random rotations are drawn from a stream of their own, the same for every run of as many latents.".to_string(),
        "DtO grows with the number of latents: compare it with the random rotation beside it, or between runs of as many latents.".to_string(),
    ]
}

fn commands(found: &Inspection) -> Vec<(String, String)> {
    let run = quoted(&found.path);
    vec![
        ("see what each latent does, moving".to_string(), format!("unbraid traverse {run}")),
        ("two other latents against each other".to_string(), format!("unbraid inspect {run} --plane 0,1")),
        ("with exact Jacobians".to_string(), format!("unbraid inspect {run} --exact")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_the_page_are_told_from_others() {
        let own = ["plane-z1-z0.png", "3-eigen-images-narrow.png", "12-codes.png", "orthogonality.png"];
        assert!(own.iter().all(|name| is_own_picture(name)));
        let others = ["mine.png", "plane-z1-z0.txt", "3eigen-images.png", "a-codes.png", "inspect.html"];
        assert!(others.iter().all(|name| !is_own_picture(name)));
    }
}
