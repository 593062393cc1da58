//! How the latents of a run lie among the principal components, in one sentence.

use unbraid_data::words::counted;

use super::latents::{LatentDirection, Match};

/// What theorem 2 promises of a linear VAE is kept within this angle, in degrees.
const HOLDS_WITHIN: f64 = 2.0;
/// Directions of which the mean keeps less are of a decoder that bends.
const STRAIGHT: f64 = 0.99;

/// Of active latents in their order, and the angles between their span and that of as many components.
pub(super) fn verdict(active: &[LatentDirection], span_angles: &[f64]) -> String {
    if active.is_empty() {
        return "No latent is active: there is no direction to compare with a component.".to_string();
    }
    let latents = counted(active.len(), "active latent");
    let angles = |matched: fn(&LatentDirection) -> Option<Match>| -> Vec<f64> {
        active.iter().filter_map(matched).map(|matched| matched.degrees).collect()
    };
    let (placed, best) = (angles(|latent| latent.at_position), angles(|latent| latent.best));
    let worst = |angles: &[f64]| angles.iter().fold(0.0_f64, |worst, &angle| worst.max(angle));
    let all_matched = placed.len() == active.len();
    if all_matched && worst(&placed) <= HOLDS_WITHIN {
        let (are, angle) = (if active.len() == 1 { "is" } else { "are" }, worst(&placed));
        return format!(
            "The {latents} {are} the first of the principal components, in their order, within {angle:.2} degrees, as theorem 2 of T4 says of a linear VAE."
        );
    }
    if all_matched && worst(&best) <= HOLDS_WITHIN {
        let angle = worst(&best);
        return match active.len() {
            1 => format!("The {latents} is a principal component within {angle:.2} degrees, but not the first."),
            _ => format!("The {latents} are principal components within {angle:.2} degrees, but not in their order."),
        };
    }
    let span = worst(span_angles);
    if span <= HOLDS_WITHIN {
        return format!(
            "The {latents} span what the first components do (within {span:.2} degrees), but are turned in it: {} off the components in order, {} off the best matching ones.",
            range(&placed, " degrees", 1.0),
            range(&best, " degrees", 1.0)
        );
    }
    if active.len() == 1 {
        return format!(
            "The {latents} is not the first principal component: its direction is {} off it and {} off the best matching one{}.",
            range(&placed, " degrees", 1.0),
            range(&best, " degrees", 1.0),
            bend(active)
        );
    }
    let inside: Vec<f64> = active.iter().filter_map(|latent| latent.in_span).collect();
    format!(
        "The {latents} are not the principal components: their directions are {} off those in order and {} off the best matching ones, {} of each lies in the span of the first {}, and the two spans are up to {span:.0} degrees apart{}.",
        range(&placed, " degrees", 1.0),
        range(&best, " degrees", 1.0),
        range(&inside, " %", 100.0),
        active.len(),
        bend(active)
    )
}

/// Why a mean direction tells little of a decoder that bends.
fn bend(active: &[LatentDirection]) -> String {
    let kept: Vec<f64> = active.iter().map(|latent| latent.constancy).collect();
    match kept.iter().any(|&kept| kept < STRAIGHT) {
        true => format!(
            "; the decoder bends, so that a latent's mean direction keeps {} of its length",
            range(&kept, " %", 100.0)
        ),
        false => String::new(),
    }
}

/// `12 to 47 degrees`, or `12 degrees` where that is all.
fn range(values: &[f64], unit: &str, times: f64) -> String {
    let least = values.iter().fold(f64::INFINITY, |least, &value| least.min(value)) * times;
    let greatest = values.iter().fold(f64::NEG_INFINITY, |greatest, &value| greatest.max(value)) * times;
    let (least, greatest) = (format!("{least:.0}"), format!("{greatest:.0}"));
    if values.is_empty() {
        return format!("–{unit}");
    }
    if least == greatest { format!("{least}{unit}") } else { format!("{least} to {greatest}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latent(at_position: (usize, f64), best: (usize, f64)) -> LatentDirection {
        let matched = |(component, degrees)| Some(Match { component, degrees });
        LatentDirection {
            latent: 0,
            is_active: true,
            deviation: 1.0,
            posterior_variance: None,
            length: 1.0,
            constancy: 0.5,
            captured: 1.0,
            in_span: Some(0.75),
            at_position: matched(at_position),
            best: matched(best),
        }
    }

    #[test]
    fn each_case_says_what_differs() {
        let linear = [latent((0, 0.4), (0, 0.4)), latent((1, 1.25), (1, 1.25))];
        assert!(verdict(&linear, &[0.0, 0.1]).starts_with(
            "The 2 active latents are the first of the principal components, in their order, within 1.25 degrees"
        ));
        let swapped = [latent((0, 90.0), (1, 0.4)), latent((1, 89.0), (0, 0.5))];
        assert!(verdict(&swapped, &[0.0, 0.1]).contains("but not in their order"));
        let turned = [latent((0, 45.0), (0, 45.0)), latent((1, 44.0), (1, 44.0))];
        let text = verdict(&turned, &[0.0, 0.3]);
        assert!(text.contains("(within 0.30 degrees), but are turned in it: 44 to 45 degrees off"), "{text}");
        let text = verdict(&turned, &[10.0, 61.2]);
        assert!(text.contains("75 % of each lies in the span of the first 2"), "{text}");
        assert!(
            text.ends_with(
                "up to 61 degrees apart; the decoder bends, so that a latent's mean direction keeps 50 % of its length."
            ),
            "{text}"
        );
        assert!(verdict(&[], &[]).starts_with("No latent is active"));
        let alone = verdict(&turned[..1], &[45.0]);
        assert!(
            alone.starts_with(
                "The 1 active latent is not the first principal component: its direction is 45 degrees off it"
            ),
            "{alone}"
        );
    }
}
