//! Draws every kind of figure and page from made-up inputs: `cargo run -p unbraid-report --example gallery -- FOLDER`.

use std::path::{Path, PathBuf};

use ndarray::Array2;
use unbraid_data::{Error, ImageShape, Result};
use unbraid_metrics::{Matrix, Scores};
use unbraid_report::figures::traversals::value_headers;
use unbraid_report::figures::{
    CumulativeLine, FactorRow, MatrixCell, MatrixRow, Panels, Scale, TraversalRow, Traversals, compare_losses,
    contact_sheet, cumulative_curves, cumulative_curves_narrow, distance_matrices, distance_matrices_narrow,
    evenly_spread, factor_rows, heatmap, loss_curves, reconstructions, traversals, traversals_gif,
};
use unbraid_report::loss_log::{LossColumn, LossTable};
use unbraid_report::page::{
    Comparison, DoctorPage, PageFigure, PageTable, RunPage, comparison_page, doctor_page, run_page,
};
use unbraid_report::{Canvas, Picture, tables, write_whole};

const SHAPE: ImageShape = ImageShape { height: 64, width: 64, channels: 1 };

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).map(PathBuf::from).ok_or_else(|| Error::new("name a folder to draw to"))?;
    std::fs::create_dir_all(&folder).map_err(|error| Error::new(error.to_string()))?;
    draw_datasets(&folder)?;
    let runs = [run(&folder, "beta_vae", 1.0)?, run(&folder, "ada_gvae", 0.4)?];
    draw_comparison(&folder, &runs)?;
    draw_doctor(&folder)?;
    draw_extremes(&folder)?;
    for run in &runs {
        println!("{}", tables::scores_table(&run.scores, Some(80)));
    }
    let columns: Vec<(&str, &Scores)> = runs.iter().map(|run| (run.title.as_str(), &run.scores)).collect();
    println!("{}", tables::comparison_table(&columns, None));
    let row = tables::ListRow {
        name: "mig",
        about: "the gap between the two latents that know most about a factor, in shares of its entropy",
        paper: "Chen et al. 2018, Isolating Sources of Disentanglement",
    };
    println!("{}", tables::list_table(&[row; 2], Some(90)));
    Ok(())
}

/// A soft disc, which moves with the first two values, grows with the third and brightens with the fourth.
fn disc([x, y, size, shade]: [f64; 4]) -> Picture {
    let pixels = (0..SHAPE.n_pixels()).map(|index| {
        let (row, column) = ((index / 64) as f64 - 32.0, (index % 64) as f64 - 32.0);
        let distance = (row - 14.0 * y).hypot(column - 14.0 * x) - 9.0 - 4.0 * size;
        ((0.8 + 0.2 * shade) / (1.0 + distance.exp())) as f32
    });
    Picture::new(SHAPE, pixels.collect()).expect("the pixels fill the shape")
}

/// A patch of colour, for what has three channels.
fn patch(hue: f64, size: f64) -> Picture {
    let shape = ImageShape { height: 32, width: 32, channels: 3 };
    let pixels = (0..32 * 32).flat_map(|index| {
        let (row, column) = ((index / 32) as f64, (index % 32) as f64);
        let is_inside = (row - 16.0).abs().max((column - 16.0).abs()) < 4.0 + 8.0 * size;
        let wave = |shift: f64| (0.5 + 0.45 * (std::f64::consts::TAU * (hue + shift)).cos()) as f32;
        let sky = 0.9 - 0.012 * row as f32;
        if is_inside { [wave(0.0), wave(0.33), wave(0.66)] } else { [sky, sky, 0.95] }
    });
    Picture::new(shape, pixels.collect()).expect("the pixels fill the shape")
}

fn draw_datasets(folder: &Path) -> Result<()> {
    let pictures: Vec<Picture> =
        (0..24).map(|index| patch(f64::from(index) / 24.0, f64::from(index % 5) / 5.0)).collect();
    let captions: Vec<String> = (0..24).map(|index| format!("#{}", index * 17_311)).collect();
    contact_sheet("3dshapes: 24 of 480,000 images", &pictures, &captions, 8).save(&folder.join("contact_sheet.png"))?;
    let row = |name: &str, n_values: usize, draw: &dyn Fn(f64) -> Picture| {
        let values = evenly_spread(n_values, 8);
        let place = |value: &usize| *value as f64 / (n_values - 1) as f64;
        FactorRow {
            name: name.to_string(),
            n_values,
            pictures: values.iter().map(|value| draw(place(value))).collect(),
            values,
        }
    };
    let rows = [
        row("object_hue", 10, &|place| patch(place, 0.5)),
        row("scale", 6, &|place| patch(0.6, place)),
        row("orientation", 40, &|place| patch(0.3 + 0.1 * place, 0.7)),
    ];
    factor_rows("3dshapes: one factor at a time", &rows).save(&folder.join("factor_rows.png"))
}

/// One made-up run; the more it is `mixed`, the less its latents keep the factors apart.
fn run(folder: &Path, framework: &str, mixed: f64) -> Result<RunPage> {
    let latents = made_up_traversals(framework, mixed);
    let pictures = |n: u32, noise: f64| -> Vec<Picture> {
        (0..n)
            .map(|i| disc([f64::from(i).sin() + noise, f64::from(i).cos() - noise, noise, 1.0 - 4.0 * noise]))
            .collect()
    };
    let table = losses(mixed);
    let matrix = correlation(mixed);
    let drawn = [
        (
            "loss_curves",
            "Each part of the loss against training steps.",
            loss_curves("Losses", &table, "nats per image", Scale::Fitting, Panels::Beside),
        ),
        (
            "reconstructions",
            "Images, and what the model makes of them.",
            reconstructions("Reconstructions", &pictures(12, 0.0), &pictures(12, 0.1)),
        ),
        ("traversals", "One latent moves along each row; the others stay.", traversals(&latents)),
        (
            "correlation",
            "How far each latent follows each factor.",
            heatmap("Correlation of latents and factors", &matrix),
        ),
    ];
    let mut figures = Vec::new();
    for (name, caption, canvas) in drawn {
        figures.push(save(folder, framework, name, caption, &canvas)?);
    }
    let bytes = traversals_gif(&latents)?;
    write_whole(&folder.join(format!("{framework}_traversals.gif")), &bytes)?;
    let caption = "The same, moving.".to_string();
    figures.insert(3, PageFigure { name: "moving".to_string(), caption, bytes, narrow: None });
    let run = RunPage {
        title: format!("runs/{framework}"),
        sentence: format!("{framework}, trained for 20,000 steps of 64 images on xy_squares."),
        scores: made_up_scores(mixed),
        figures,
        config: "seed = 1\n\n[dataset]\nname = \"xy_squares\"\n\n[framework]\nname = \"beta_vae\"\nbeta = 4.0\n"
            .to_string(),
        commands: vec![("Make this page again".to_string(), format!("unbraid report runs/{framework}"))],
    };
    write_whole(&folder.join(format!("{framework}.html")), run_page(&run).as_bytes())?;
    Ok(run)
}

fn made_up_scores(mixed: f64) -> Scores {
    Scores::new()
        .with("mig", 0.62 - 0.4 * mixed)
        .with("dci.disentanglement", 0.81 - 0.3 * mixed)
        .with("dci.completeness", 0.74 - 0.35 * mixed)
        .with("factor_vae", 0.93 - 0.2 * mixed)
        .with("sap", 0.0004)
        .without("cbd", "it needs at least two factors that are continuous, and this dataset has none of them")
}

fn made_up_traversals(framework: &str, mixed: f64) -> Traversals {
    let values: Vec<f64> = (0..11).map(|index| -2.0 + 0.4 * f64::from(index)).collect();
    let row = |latent: usize| {
        let mut direction = [0.0; 4];
        direction[latent % 4] = if latent < 4 { 1.0 } else { 0.0 };
        direction[(latent + 1) % 4] += if latent < 4 { 0.6 * mixed } else { 0.0 };
        TraversalRow {
            label: format!("z{latent}"),
            note: format!("KL {:.2}", 3.2 / (1.0 + latent as f64)),
            pictures: values.iter().map(|value| disc(direction.map(|share| share * value / 2.0))).collect(),
        }
    };
    Traversals {
        title: format!("Latent traversals, {framework}"),
        headers: value_headers(&values),
        rows: (0..6).map(row).collect(),
    }
}

fn losses(mixed: f64) -> LossTable {
    let steps: Vec<usize> = (1..=2000).map(|row| row * 10).collect();
    let noise = |step: usize, salt: f64| ((step as f64 * 12.9898 + salt).sin() * 43_758.545).fract();
    let column = |name: &str, value: &dyn Fn(f64) -> f64, salt: f64| LossColumn {
        name: name.to_string(),
        values: steps.iter().map(|step| value(*step as f64) * (1.0 + 0.15 * noise(*step, salt))).collect(),
    };
    let reconstruction =
        |step: f64| 30.0 + 10.0 * mixed + 2600.0 * (-step / 300.0).exp() + 60.0 * (-step / 5000.0).exp();
    let kl = |step: f64| (12.0 - 3.0 * mixed) * (1.0 - (-step / 1500.0).exp());
    let columns = vec![
        column("loss", &|step| reconstruction(step) + 4.0 * kl(step), 0.0),
        column("reconstruction", &reconstruction, 1.0),
        column("kl", &kl, 2.0),
    ];
    LossTable { steps, columns }
}

fn correlation(mixed: f64) -> Matrix {
    let factors = ["x_red", "y_red", "x_green", "y_green", "orientation", "scale"];
    let values = Array2::from_shape_fn((6, 6), |(row, column)| {
        let distance = row.abs_diff(column) as f64;
        0.95 * (-distance * (2.2 - 1.8 * mixed)).exp() + 0.02 * ((row * 7 + column * 3) % 5) as f64
    });
    Matrix {
        name: "correlation".to_string(),
        rows: (0..6).map(|latent| format!("z{latent}")).collect(),
        columns: factors.map(String::from).to_vec(),
        values: values.mapv(|value: f64| value.min(1.0)),
    }
}

fn draw_comparison(folder: &Path, runs: &[RunPage]) -> Result<()> {
    let tables = [losses(1.0), losses(0.4)];
    let named: Vec<(String, &LossTable)> = runs.iter().map(|run| run.title.clone()).zip(&tables).collect();
    let curves = compare_losses("Losses of both runs", &named, "nats per image", Scale::Fitting, Panels::Beside);
    let figures = vec![save(folder, "both", "loss_curves", "Faint: as logged. Bold: running mean.", &curves)?];
    let comparison = Comparison {
        title: "Does supervision by pairs help?".to_string(),
        text: "Both runs see the same images in the same order.\n\nLook at the traversals: in the right column each \
               latent should move one thing only."
            .to_string(),
        figures,
        runs: runs.to_vec(),
    };
    write_whole(&folder.join("comparison.html"), comparison_page(&comparison).as_bytes())
}

/// Distances between the values of factors of several sizes, of which those by a loss level off.
fn made_up_distances(factors: &[(&str, usize)]) -> Vec<MatrixRow> {
    let row = |name: &str, unit: &str, distance: &dyn Fn(f64) -> f64| MatrixRow {
        name: name.to_string(),
        cells: factors
            .iter()
            .map(|(factor, size)| MatrixCell {
                name: factor.to_string(),
                unit: unit.to_string(),
                values: Array2::from_shape_fn((*size, *size), |(i, j)| distance(i.abs_diff(j) as f64)),
            })
            .collect(),
    };
    vec![
        row("ground truth", "steps", &|steps| steps),
        row("mse", "", &|steps| 0.0213 * (steps / 3.0).min(1.0)),
        row("mse_box31", "", &|steps| 81.3 * (1.0 - (-steps / 20.0).exp())),
    ]
}

fn draw_doctor(folder: &Path) -> Result<()> {
    let factors = [("shape", 3), ("scale", 6), ("orientation", 40), ("x", 32), ("y", 200)];
    let rows = made_up_distances(&factors);
    let title = "How far apart the values of each factor are";
    let matrices = distance_matrices(title, &rows);
    distance_matrices_narrow(title, &rows).save(&folder.join("doctor_matrices_narrow.png"))?;
    let long = "a_factor_with_a_long_name";
    let many: Vec<(&str, usize)> = factors.iter().chain(&factors).copied().chain([(long, 2)]).collect();
    distance_matrices("", &made_up_distances(&many)).save(&folder.join("doctor_matrices_many.png"))?;
    let line = |index: usize, name: &str, jump: f64| CumulativeLine {
        name: name.to_string(),
        points: (0..=40)
            .map(|step| {
                let place = f64::from(step) / 40.0;
                (0.004 * (1.0 + index as f64) * (1.0 + place), place.powf(1.0 / (1.0 + jump)))
            })
            .collect(),
    };
    let mut lines = vec![line(8, "random", 0.0), line(7, "random32", 0.0)];
    lines.extend(factors.iter().enumerate().map(|(index, (name, _))| line(index, name, index as f64)));
    lines.push(CumulativeLine { name: "constant".to_string(), points: vec![(0.0, 0.1), (0.0213, 1.0)] });
    lines.push(CumulativeLine { name: "two_steps".to_string(), points: vec![(0.0, 0.1), (0.03, 0.6), (0.05, 1.0)] });
    let curves = cumulative_curves("Distances along factors", "mean squared error of a pair", &lines);
    cumulative_curves_narrow("Distances along factors", "mean squared error of a pair", &lines)
        .save(&folder.join("doctor_cumulative_narrow.png"))?;
    let figures = vec![
        save(folder, "doctor", "distance_matrices", "Dark is near, light is far.", &matrices)?,
        save(folder, "doctor", "cumulative", "Lines further to the right are learned earlier.", &curves)?,
    ];
    let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<String>>();
    let page = DoctorPage {
        title: "xy_squares".to_string(),
        lead: "A VAE with mse will not order the factors of this dataset.".to_string(),
        verdicts: vec![
            ("Learned first".to_string(), "x, then y: images differ most along them.".to_string()),
            ("Not ordered".to_string(), "shape: all its values are equally far apart under mse.".to_string()),
        ],
        tables: vec![PageTable {
            name: "distances_along_factors".to_string(),
            caption: "Over all pairs.".to_string(),
            header: texts(&["factor", "mean", "pearson mse", "spearman mse"]),
            rows: vec![texts(&["x", "0.0213", "0.51", "0.62"]), texts(&["random", "0.0413", "0.31", "0.42"])],
        }],
        figures,
        notes: texts(&["All pairs of all traversals were taken."]),
        commands: vec![("Train with another loss".to_string(), "unbraid train a.toml".to_string())],
    };
    write_whole(&folder.join("doctor.html"), doctor_page(&page).as_bytes())
}

/// Figures at the edge of what is asked of them: many cells, signed and missing numbers, many runs, one short curve.
fn draw_extremes(folder: &Path) -> Result<()> {
    let names = |kind: &str, count: usize| (0..count).map(|index| format!("{kind}{index}")).collect();
    let wave = |row: usize, column: usize| (row as f64 * 0.3).sin() * (column as f64 * 0.2).cos();
    let large = Array2::from_shape_fn((40, 32), |(row, column)| wave(row, column));
    let matrix = Matrix { name: String::new(), rows: names("z", 40), columns: names("metric_", 32), values: large };
    heatmap("Agreement of 40 latents", &matrix).save(&folder.join("heatmap_large.png"))?;
    let mut small = Array2::from_shape_fn((3, 4), |(row, column)| 40.0 * wave(row + 1, 3 * column));
    small[[1, 2]] = f64::NAN;
    let matrix = Matrix { name: String::new(), rows: names("z", 3), columns: names("f", 4), values: small };
    heatmap("Any range", &matrix).save(&folder.join("heatmap_small.png"))?;
    let mut table = losses(0.0);
    table.columns.truncate(1);
    let runs: Vec<(String, &LossTable)> = (0..5).map(|run| (format!("runs/with_a_long_name_{run}"), &table)).collect();
    compare_losses("One part, five runs", &runs, "nats", Scale::Linear, Panels::Beside)
        .save(&folder.join("curves_five.png"))
}

fn save(folder: &Path, prefix: &str, name: &str, caption: &str, canvas: &Canvas) -> Result<PageFigure> {
    canvas.save(&folder.join(format!("{prefix}_{name}.png")))?;
    Ok(PageFigure { name: name.to_string(), caption: caption.to_string(), bytes: canvas.to_png()?, narrow: None })
}
