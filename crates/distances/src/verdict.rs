//! What the distances mean for training, in words that a person can act on.
//!
//! A VAE orders the values of a factor by how far apart their images look (T1 section 3.1). So a factor is learned in order where distances
//! along it follow its values, in no order where all look equally far apart (T1 section 3.3), and the earlier the farther apart its images
//! are (T1 section 3.5). docs/doctor.md sets these words against what small models learned.

use unbraid_data::words::listed;

use crate::examine::{Findings, OfFactor, OfPairs, UnderLoss};

/// From here on the order of distances follows that of values.
const ORDERED: f64 = 0.7;
/// Below this it does not.
const HARDLY: f64 = 0.3;
/// From this share of pairs on that look as far apart as the farthest, order is seen among near ones alone.
const SATURATED: f64 = 0.4;
/// A loss helps where some factor stands better under it and the order rises by at least this on average over factors; it hurts a factor whose order it
/// lowers by as much.
const LEAST_GAIN: f64 = 0.05;
/// A factor whose images differ by less than this share of random ones is faint.
const FAINT: f64 = 0.1;

/// What a VAE finds along a factor under a loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Standing {
    /// Values that are farther apart look farther apart.
    Ordered,
    /// Near ones do, and all that are farther apart look alike.
    NearOnly,
    /// They do so in part.
    InPart,
    /// They hardly do.
    Hardly,
    /// All values look equally far apart: there is no order to be seen.
    Constant,
    /// The values have no order, or are only two: there is none to be learned.
    NoneWanted,
    /// Too few images differ in this factor alone to tell.
    Unknown,
}

impl Standing {
    /// Of a factor under a loss.
    pub fn of(factor: &OfFactor, under: &UnderLoss) -> Self {
        if factor.size == Some(2) || !factor.has_order {
            return Self::NoneWanted;
        }
        match &under.order {
            Err(_) => Self::Unknown,
            Ok(_) if under.is_constant => Self::Constant,
            Ok(order) if order.value >= ORDERED && under.saturated >= SATURATED => Self::NearOnly,
            Ok(order) if order.value >= ORDERED => Self::Ordered,
            Ok(order) if order.value >= HARDLY => Self::InPart,
            Ok(_) => Self::Hardly,
        }
    }

    /// In one or two words, for a table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ordered => "ordered",
            Self::NearOnly => "near only",
            Self::InPart => "in part",
            Self::Hardly => "hardly",
            Self::Constant => "not at all",
            Self::NoneWanted => "no order",
            Self::Unknown => "unknown",
        }
    }

    /// For setting losses beside each other: the greater, the better.
    fn rank(self) -> usize {
        match self {
            Self::Constant | Self::Hardly => 0,
            Self::InPart | Self::NearOnly => 1,
            Self::Ordered | Self::NoneWanted | Self::Unknown => 2,
        }
    }
}

/// The verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Whether the data can be expected to disentangle with the first loss, in a sentence or two.
    pub summary: String,
    /// What that rests on: a few words, and what they mean here.
    pub parts: Vec<(String, String)>,
    /// The loss that orders the factors best, where it is not the first.
    pub better_loss: Option<usize>,
}

/// The verdict on what was found.
pub fn verdict(findings: &Findings) -> Verdict {
    if findings.random.under[0].mean == 0.0 {
        let summary = format!("All images look the same to {}: there is nothing to learn.", findings.losses[0].name);
        return Verdict { summary, parts: left_out(findings).into_iter().collect(), better_loss: None };
    }
    let better_loss = better_loss(findings);
    let parts = [
        order_of_learning(findings),
        unseen(findings),
        near_only(findings),
        ties(findings),
        Some(other_losses(findings, better_loss)),
        Some(as_a_whole(findings)),
        few_pairs(findings),
        left_out(findings),
    ];
    Verdict { summary: summary(findings, better_loss), parts: parts.into_iter().flatten().collect(), better_loss }
}

fn known(findings: &Findings) -> impl Iterator<Item = (&OfFactor, &OfPairs)> {
    findings.factors.iter().filter_map(|factor| Some((factor, factor.pairs.as_ref().ok()?)))
}

fn with_standing(findings: &Findings, loss: usize, wanted: Standing) -> Vec<&str> {
    let standing = |(factor, pairs): &(&OfFactor, &OfPairs)| Standing::of(factor, &pairs.under[loss]) == wanted;
    known(findings).filter(standing).map(|(factor, _)| factor.name.as_str()).collect()
}

fn summary(findings: &Findings, better_loss: Option<usize>) -> String {
    let loss = &findings.losses[0].name;
    let of = |standing| with_standing(findings, 0, standing);
    let (ordered, hardly, constant) = (of(Standing::Ordered), of(Standing::Hardly), of(Standing::Constant));
    let part = [of(Standing::NearOnly), of(Standing::InPart)].concat();
    let first = match (ordered.len(), part.len(), hardly.len() + constant.len()) {
        (0, 0, 0) if known(findings).next().is_none() => {
            "No two images differ in one factor alone, so nothing can be said of single factors.".to_string()
        }
        (0, 0, 0) if !of(Standing::Unknown).is_empty() => format!(
            "Too few images differ in one factor alone to tell whether {loss} sees the order of {}.",
            names(&of(Standing::Unknown))
        ),
        (0, 0, 0) => format!("No factor has an order that {loss} could miss."),
        (_, 0, 0) => {
            format!("{loss} sees the order of every factor that has one: distances are no obstacle to disentangling.")
        }
        (0, 0, _) => format!(
            "{loss} sees the order of no factor: a VAE trained with it is not expected to disentangle this data."
        ),
        (0, _, 0) => format!("{loss} sees the order of {} in part.", names(&part)),
        (_, _, 0) => format!("{loss} sees the order of {}, and of {} in part.", names(&ordered), names(&part)),
        _ => {
            let seen: Vec<&str> = ordered.iter().chain(&part).copied().collect();
            let unseen: Vec<&str> = hardly.iter().chain(&constant).copied().collect();
            format!(
                "{loss} sees the order of {} at least in part, and not that of {}, which a VAE is not expected to order.",
                names(&seen),
                names(&unseen)
            )
        }
    };
    match better_loss {
        Some(better) => format!("{first} {} orders them better: see below.", findings.losses[better].name),
        None => first,
    }
}

fn names(names: &[&str]) -> String {
    if names.is_empty() { "none".to_string() } else { listed(names) }
}

fn order_of_learning(findings: &Findings) -> Option<(String, String)> {
    known(findings).next()?;
    let mut factors: Vec<(&str, f64)> =
        known(findings).map(|(factor, pairs)| (factor.name.as_str(), pairs.under[0].mean)).collect();
    factors.sort_by(|a, b| b.1.total_cmp(&a.1));
    let random = findings.random.under[0].mean;
    let told: Vec<String> = factors.iter().map(|(name, mean)| format!("{name} ({mean:.4})")).collect();
    let mut text = format!(
        "By mean distance under {}: {}; any two images are {random:.4} apart. Factors that move images farther are learned first.",
        findings.losses[0].name,
        told.join(", ")
    );
    let faint: Vec<&str> = factors.iter().filter(|(_, mean)| *mean < FAINT * random).map(|(name, _)| *name).collect();
    if !faint.is_empty() {
        text += &format!(
            " {} {} images by less than a tenth of that, and may be left out where beta is large.",
            names(&faint),
            if faint.len() == 1 { "changes" } else { "change" }
        );
    }
    Some(("Learned first".to_string(), text))
}

fn unseen(findings: &Findings) -> Option<(String, String)> {
    let (constant, hardly) =
        (with_standing(findings, 0, Standing::Constant), with_standing(findings, 0, Standing::Hardly));
    if constant.is_empty() && hardly.is_empty() {
        return None;
    }
    let loss = &findings.losses[0].name;
    let mut text = String::new();
    if !constant.is_empty() {
        text += &format!(
            "Constant overlap: any two values of {} look equally far apart to {loss}, so nothing orders them.",
            names(&constant)
        );
    }
    if !hardly.is_empty() {
        let space = if text.is_empty() { "" } else { " " };
        text += &format!(
            "{space}Along {} distances hardly follow the values: those that are far apart may look alike.",
            names(&hardly)
        );
    }
    Some(("Not ordered".to_string(), text))
}

fn near_only(findings: &Findings) -> Option<(String, String)> {
    let near = with_standing(findings, 0, Standing::NearOnly);
    let text = format!(
        "Along {} near values are told apart by how far they are, and all that are farther look equally far apart to {}: a VAE finds neighbours, and may bend or fold the whole.",
        names(&near),
        findings.losses[0].name
    );
    (!near.is_empty()).then(|| ("Near only".to_string(), text))
}

/// Factors that move images equally far, the farthest, can be mixed without cost.
fn ties(findings: &Findings) -> Option<(String, String)> {
    let means: Vec<(&str, f64)> =
        known(findings).map(|(factor, pairs)| (factor.name.as_str(), pairs.under[0].mean)).collect();
    let mean = means.iter().map(|(_, mean)| *mean).max_by(f64::total_cmp)?;
    let alike: Vec<&str> =
        means.iter().filter(|(_, other)| (other - mean).abs() <= 0.1 * mean).map(|(name, _)| *name).collect();
    (alike.len() > 1).then(|| {
        let text = format!(
            "{} move images about equally far: a VAE may turn its latents between them, and distances alone do not keep them apart. Pairs (ada_gvae) or another seed may.",
            names(&alike)
        );
        ("Mixed".to_string(), text)
    })
}

/// The loss after the first that orders the factors best, where that is better than the first by enough.
fn better_loss(findings: &Findings) -> Option<usize> {
    let mean_order = |loss: usize| -> Option<f64> {
        let orders: Vec<f64> = with_an_order(findings).map(|(_, pairs)| order_value(&pairs.under[loss])).collect();
        (!orders.is_empty()).then(|| orders.iter().sum::<f64>() / orders.len() as f64)
    };
    let first = mean_order(0)?;
    let others = (1..findings.losses.len()).filter_map(|loss| Some((loss, mean_order(loss)?)));
    let best = others.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, order)| *order >= first + LEAST_GAIN)?.0;
    let stands_better = |(factor, pairs): (&OfFactor, &OfPairs)| {
        let [before, after] = [0, best].map(|loss| Standing::of(factor, &pairs.under[loss]));
        after.rank() > before.rank()
    };
    with_an_order(findings).any(stands_better).then_some(best)
}

/// Factors whose order could be told.
fn with_an_order(findings: &Findings) -> impl Iterator<Item = (&OfFactor, &OfPairs)> {
    known(findings).filter(|(factor, pairs)| {
        !matches!(Standing::of(factor, &pairs.under[0]), Standing::NoneWanted | Standing::Unknown)
    })
}

/// 0 where all look equally far apart.
fn order_value(under: &UnderLoss) -> f64 {
    match &under.order {
        Ok(order) if !under.is_constant => order.value,
        _ => 0.0,
    }
}

fn other_losses(findings: &Findings, better_loss: Option<usize>) -> (String, String) {
    let heading = "Which loss".to_string();
    let first = &findings.losses[0].name;
    if findings.losses.len() == 1 {
        return (
            heading,
            format!("Only {first} was tried; --loss mse,mse_box31,mse_gaussian31 tries blurs beside it."),
        );
    }
    let others: Vec<&str> = findings.losses[1..].iter().map(|loss| loss.name.as_str()).collect();
    if with_an_order(findings).next().is_none() {
        return (
            heading,
            format!("No factor has an order by which {} could be told apart from {first}.", names(&others)),
        );
    }
    let Some(better) = better_loss else {
        return (
            heading,
            format!(
                "No factor would stand better under {} than under {first}, or others would lose more.",
                names(&others)
            ),
        );
    };
    let loss = &findings.losses[better];
    let (mut changes, mut worse) = (Vec::new(), Vec::new());
    for (factor, pairs) in with_an_order(findings) {
        let [before, after] = [0, better].map(|loss| order_value(&pairs.under[loss]));
        changes.push(format!("{} {before:.2} to {after:.2}", factor.name));
        if after <= before - LEAST_GAIN {
            worse.push(factor.name.as_str());
        }
    }
    let mut text = format!(
        "{} orders the factors better: order from {first} to it: {}. In a config: reconstruction = {}",
        loss.name,
        changes.join(", "),
        loss.as_setting()
    );
    let [before, after] = [0, better].map(|loss| findings.random.under[loss].mean);
    text += &format!(". Its distances are {:.1} times as large, and beta has to follow", after / before);
    if !worse.is_empty() {
        text += &format!(". It orders {} worse", names(&worse));
    }
    (heading, text)
}

fn as_a_whole(findings: &Findings) -> (String, String) {
    let of_losses: Vec<String> = findings
        .losses
        .iter()
        .zip(&findings.random.under)
        .map(|(loss, under)| match &under.correlations.spearman {
            Ok(spearman) => format!("{:.2} under {}", spearman.value, loss.name),
            Err(reason) => format!("undefined under {} ({reason})", loss.name),
        })
        .collect();
    let text = format!(
        "Over any two images, distances have a rank correlation with all factors together of {}. Distances between codes come to resemble those between images.",
        of_losses.join(", ")
    );
    ("All factors together".to_string(), text)
}

/// Fewer pairs say little.
const FEW_PAIRS: usize = 100;

fn few_pairs(findings: &Findings) -> Option<(String, String)> {
    let few: Vec<&str> = known(findings)
        .filter(|(_, pairs)| pairs.n_pairs < FEW_PAIRS)
        .map(|(factor, _)| factor.name.as_str())
        .collect();
    let text =
        format!("What is said of {} rests on fewer than {FEW_PAIRS} pairs of images, and may be chance.", names(&few));
    (!few.is_empty()).then(|| ("Few pairs".to_string(), text))
}

fn left_out(findings: &Findings) -> Option<(String, String)> {
    let reasons: Vec<String> = findings
        .factors
        .iter()
        .filter_map(|factor| Some(format!("{}: {}", factor.name, factor.pairs.as_ref().err()?)))
        .collect();
    (!reasons.is_empty()).then(|| ("Not looked at".to_string(), reasons.join("; ")))
}

#[cfg(test)]
mod tests {
    use unbraid_data::datasets;

    use super::*;
    use crate::estimate::{Correlations, Estimate};
    use crate::examine::{Settings, examine};
    use crate::losses::Loss;

    fn verdict_on(settings: &str) -> Verdict {
        let dataset = datasets::build("xy_squares", &settings.parse().unwrap()).unwrap();
        let losses: Vec<Loss> = ["mse", "mse_box31"].iter().map(|name| Loss::parse(name).unwrap()).collect();
        verdict(&examine(&*dataset, &losses, Settings::suited_to(&losses), |_, _, _| ()).unwrap())
    }

    #[test]
    fn squares_that_never_overlap_need_a_blur() {
        let verdict = verdict_on("squares = 1");
        assert!(verdict.summary.starts_with("mse sees the order of no factor"), "{}", verdict.summary);
        assert_eq!(verdict.better_loss, Some(1));
        let text = verdict.parts.iter().map(|(heading, text)| format!("{heading}: {text}\n")).collect::<String>();
        assert!(
            text.contains("Constant overlap: any two values of x_R and y_R look equally far apart to mse"),
            "{text}"
        );
        assert!(text.contains("x_R 0.00 to 0.9"), "{text}");
    }

    #[test]
    fn squares_that_overlap_are_ordered() {
        let verdict = verdict_on("squares = 1\ngrid = 8\nspacing = 1");
        assert!(verdict.summary.starts_with("mse sees the order of every factor"), "{}", verdict.summary);
        assert_eq!(verdict.better_loss, None);
    }

    /// A factor, its size, whether its values have an order, and under each of two losses mean and order.
    type MadeUp = (&'static str, usize, bool, [(f64, f64); 2]);

    fn made_up(factors: &[MadeUp]) -> Findings {
        let under = |(mean, order): (f64, f64)| UnderLoss {
            mean,
            deviation: mean / 2.0,
            is_constant: false,
            saturated: 0.0,
            correlations: Correlations { pearson: Err(String::new()), spearman: Err("not looked at".to_string()) },
            order: Ok(Estimate { value: order, interval: None }),
            cumulative: Vec::new(),
        };
        let pairs = |numbers: [(f64, f64); 2]| OfPairs {
            n_pairs: 1000,
            are_all: true,
            under: numbers.map(under).to_vec(),
            matrices: Vec::new(),
        };
        let factor = |(name, size, has_order, numbers): &MadeUp| OfFactor {
            name: name.to_string(),
            size: Some(*size),
            has_order: *has_order,
            pairs: Ok(pairs(*numbers)),
        };
        Findings {
            losses: ["mse", "mse_box31"].map(|name| Loss::parse(name).unwrap()).to_vec(),
            factors: factors.iter().map(factor).collect(),
            random: pairs([(1.0, 0.0); 2]),
            random32: pairs([(1.0, 0.0); 2]),
        }
    }

    #[test]
    fn what_is_said_follows_from_the_numbers() {
        let findings = made_up(&[
            ("place", 8, true, [(0.5, 0.9), (0.5, 0.95)]),
            ("turn", 8, true, [(0.48, 0.4), (0.5, 0.3)]),
            ("tint", 8, true, [(0.05, 0.1), (0.5, 0.9)]),
            ("kind", 3, false, [(0.2, 0.1), (0.5, 0.1)]),
        ]);
        let words: Vec<&str> =
            known(&findings).map(|(factor, pairs)| Standing::of(factor, &pairs.under[0]).word()).collect();
        assert_eq!(words, ["ordered", "in part", "hardly", "no order"]);
        let verdict = verdict(&findings);
        // Mean orders 1.4 / 3 and 2.15 / 3.
        assert_eq!(verdict.better_loss, Some(1));
        assert!(
            verdict.summary.starts_with("mse sees the order of place and turn at least in part, and not that of tint"),
            "{}",
            verdict.summary
        );
        let part =
            |heading: &str| verdict.parts.iter().find(|(name, _)| name == heading).map(|(_, text)| text.as_str());
        assert!(part("Learned first").unwrap().contains("place (0.5000), turn (0.4800), kind (0.2000), tint (0.0500)"));
        assert!(part("Learned first").unwrap().contains("tint changes images by less than a tenth"));
        assert!(part("Mixed").unwrap().starts_with("place and turn move images about equally far"));
        let loss = part("Which loss").unwrap();
        assert!(loss.contains("tint 0.10 to 0.90") && loss.ends_with("It orders turn worse"), "{loss}");
        assert!(loss.contains("Its distances are 1.0 times as large"), "{loss}");
        assert_eq!(part("Not looked at"), None);
    }

    #[test]
    fn a_small_gain_is_none() {
        // One that is too small, one among the ordered, and one that helps nobody.
        for orders in [[0.69, 0.71], [0.75, 0.99], [-0.4, 0.0]] {
            let findings = made_up(&[("place", 8, true, orders.map(|order| (0.5, order)))]);
            assert_eq!(verdict(&findings).better_loss, None, "{orders:?}");
        }
    }

    #[test]
    fn squares_that_overlap_with_their_neighbours_alone_are_seen_near() {
        let verdict = verdict_on("squares = 1\ngrid = 25\nspacing = 2");
        assert!(verdict.summary.starts_with("mse sees the order of x_R and y_R in part."), "{}", verdict.summary);
        assert_eq!(verdict.better_loss, Some(1));
        assert!(verdict.parts.iter().any(|(heading, _)| heading == "Near only"));
    }

    #[test]
    fn images_that_are_all_the_same_are_told() {
        let mut findings = made_up(&[("place", 8, true, [(0.0, 0.0), (0.0, 0.0)])]);
        findings.random.under[0].mean = 0.0;
        let verdict = verdict(&findings);
        assert!(verdict.summary.starts_with("All images look the same to mse") && verdict.parts.is_empty());
    }

    #[test]
    fn where_no_factor_can_be_followed_nothing_is_made_up() {
        let dataset = datasets::build("synth_linear", &toml::Table::new()).unwrap();
        let losses: Vec<Loss> = ["mse", "mae"].iter().map(|name| Loss::parse(name).unwrap()).collect();
        let verdict = verdict(&examine(&*dataset, &losses, Settings::suited_to(&losses), |_, _, _| ()).unwrap());
        assert!(verdict.summary.starts_with("No two images differ in one factor alone"), "{}", verdict.summary);
        let headings: Vec<&str> = verdict.parts.iter().map(|(heading, _)| heading.as_str()).collect();
        assert_eq!(headings, ["Which loss", "All factors together", "Not looked at"]);
        assert_eq!(verdict.better_loss, None);
    }
}
