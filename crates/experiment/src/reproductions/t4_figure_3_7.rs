//! T4 figure 3.7: DS and DtO over beta. Too small a beta leaves the latents' directions open; on a plateau they are found; above it latents are switched
//! off one after the other.
//!
//! The figure has no numbers that could be read from the text. What its section says is claimed: of the linear points that DS comes close to 1 on a plateau, and of all
//! that the largest beta leaves fewer active latents than factors. The tip of section 3.3.6 is shown beside it: the least beta tried at which the mean
//! posterior variance of some latent has come to 1, here 0.95.
//!
//! For linear points the place where latents go out is known: with a squared error that is summed, a linear VAE leaves out a direction of variance `v`
//! from `beta = 2 v` on ([`crate::beta_search`]), here 1/6 and 2/3. dSprites at small scale is the sub-grid of three factors of [`super::t4_setups`].

use unbraid_data::Result;

use super::t4_figures::over_beta;
use super::t4_setups::{DSPRITES, SYNTH_LINEAR, SYNTH_NONLINEAR, Setup};
use super::trained::{Group, Restarts, of_scale, train};
use super::{Entry, Outcome, Request, Row, Run, Scale};
use crate::beta_search::{SWITCHED_OFF, largest_variance};
use crate::watch::Watch;

/// A line search of a dataset.
struct Search {
    setup: &'static Setup,
    small: Line,
    paper: Line,
}

/// The values of beta, T4's choice, and how many factors there are.
struct Line {
    betas: &'static [f64],
    chosen: f64,
    n_factors: f64,
}

const SYNTHETIC: &[f64] = &[1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];
const SEARCHES: &[Search] = &[
    Search {
        setup: &SYNTH_LINEAR,
        small: Line { betas: &[1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 0.3, 1.0], chosen: 1e-4, n_factors: 2.0 },
        paper: Line { betas: SYNTHETIC, chosen: 1e-4, n_factors: 2.0 },
    },
    Search {
        setup: &SYNTH_NONLINEAR,
        small: Line { betas: &[1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0], chosen: 1e-3, n_factors: 2.0 },
        paper: Line { betas: SYNTHETIC, chosen: 1e-3, n_factors: 2.0 },
    },
    Search {
        setup: &DSPRITES,
        // A quarter of the pixels, and so T4's choice is a quarter of 4.
        small: Line { betas: &[0.0625, 0.25, 1.0, 4.0, 16.0], chosen: 1.0, n_factors: 3.0 },
        paper: Line { betas: &[0.25, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0], chosen: 4.0, n_factors: 5.0 },
    },
];
const SWITCHED_OFF_NOTE: &str = "wherever no latent is active, codes are noise, and so are their DS and DtO";
const SHORT_NOTE: &str = "fewer steps are taken at this scale than in T4, in which small betas turn latents less";
/// What "almost 1.0" is taken to be.
const ALMOST_ONE: f64 = 0.95;

impl Search {
    fn line(&self, scale: Scale) -> &Line {
        scale.pick(&self.paper, &self.small, &self.paper)
    }

    fn betas(&self, scale: Scale) -> &'static [f64] {
        scale.pick(&self.small.betas[..2], self.small.betas, self.paper.betas)
    }

    fn groups(&self, scale: Scale) -> Result<Vec<Group>> {
        let group = |beta: &f64| {
            let config = self.setup.config(scale, "beta_vae", &[format!("framework.beta={beta}")])?;
            let name = format!("{}-beta{beta}", self.setup.dataset);
            Ok(Group { name, config, n_seeds: scale.pick(1, 2, 5) })
        };
        self.betas(scale).iter().map(group).collect()
    }
}

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut groups = Vec::new();
    for search in SEARCHES {
        groups.extend(search.groups(request.scale)?);
    }
    let Some(trained) = train(&groups, request, watch)? else { return Ok(None) };
    let mut outcome = Outcome::default();
    let mut trained = trained.into_iter();
    for search in SEARCHES {
        let betas = search.betas(request.scale).iter().copied();
        let runs: Vec<(f64, Restarts)> = betas.zip(trained.by_ref()).collect();
        show(search, &runs, request.scale, &mut outcome)?;
    }
    outcome.notes.push(SWITCHED_OFF_NOTE.to_string());
    if !SYNTH_LINEAR.is_as_long(request.scale)? {
        outcome.notes.push(SHORT_NOTE.to_string());
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

fn show(search: &Search, runs: &[(f64, Restarts)], scale: Scale, outcome: &mut Outcome) -> Result<()> {
    let judged = |claim: Row| if search.setup.has_order(scale) { claim } else { claim.only_beside() };
    let (dataset, line) = (search.setup.dataset, search.line(scale));
    for (beta, restarts) in runs {
        for (score, title) in [("ds", "DS"), ("dto", "DtO"), ("polarized.active", "active latents")] {
            outcome.rows.push(Row::mean(format!("{dataset}, beta {beta}, {title}"), restarts.spread(score)?, None));
        }
    }
    if dataset == SYNTH_LINEAR.dataset {
        outcome.rows.push(judged(reaches_one(dataset, runs)?));
    }
    let (largest, last) = &runs[runs.len() - 1];
    let active = last.spread("polarized.active")?.mean;
    outcome.rows.push(judged(Row::claim(
        format!("{dataset}: beta {largest} leaves fewer active latents than factors"),
        format!("{active:.1} of {}", line.n_factors),
        active < line.n_factors,
    )));
    let mut marks = vec![(line.chosen, "T4".to_string())];
    if let Some(beta) = first_switched_off(runs)? {
        outcome
            .rows
            .push(Row::ours(format!("{dataset}, least beta at which a latent's variance is 1 in every restart"), beta));
        marks.push((beta, "some out".to_string()));
    }
    outcome.figures.push((format!("{dataset}.png"), over_beta(dataset, runs, &marks)?));
    Ok(())
}

fn reaches_one(dataset: &str, runs: &[(f64, Restarts)]) -> Result<Row> {
    let mut plateau = Vec::new();
    let mut best = f64::NAN;
    for (beta, restarts) in runs {
        let ds = restarts.spread("ds")?.mean;
        best = best.max(ds);
        if ds >= ALMOST_ONE {
            plateau.push(beta.to_string());
        }
    }
    let at = if plateau.is_empty() { "no beta".to_string() } else { plateau.join(", ") };
    let found = format!("{best:.2} at best, {ALMOST_ONE} or more at {at}");
    Ok(Row::claim(format!("{dataset}: DS comes close to 1 on a plateau"), found, plateau.len() >= 2))
}

/// The least beta at which some latent is switched off in every restart.
fn first_switched_off(runs: &[(f64, Restarts)]) -> Result<Option<f64>> {
    for (beta, restarts) in runs {
        let mut is_off = true;
        for folder in &restarts.folders {
            is_off &= largest_variance(&folder.read_scores()?) >= SWITCHED_OFF;
        }
        if is_off {
            return Ok(Some(*beta));
        }
    }
    Ok(None)
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t4-figure-3.7",
    about: "Disentanglement and orthogonality over beta, trained: synthetic points and dsprites",
    paper: "Zietlow 2022, figure 3.7 and section 3.3.6",
    run: Run::Trained(run),
};
