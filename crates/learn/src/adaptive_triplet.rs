//! Adaptive triplets (T1 section 5.4): the distance of anchor and negative counts less in latents that both seem to share, so that
//! distances are best told along few latents, and latents along factors.
//!
//! Shared are the latents that differ less than a threshold (T1 eq 5.16; [`crate::adaptive`]). Their differences are multiplied by omega, those
//! of others by 1 (T1 eq 5.19-5.21); the distance of anchor and positive is left alone. Which latents are shared is not differentiated, and
//! the gradient goes through the weighted differences.
//!
//! Omega and eta change while training, by one of the five schedules of T1 table 5.2. That table prints an omega of 1 for the first,
//! `threshold`; all weights would be 1, and nothing adaptive. The code that T1 was made with (disent, schedule `adanegtvae_up_thresh`)
//! holds omega at 0.5, and so do we; the printed one is `custom` with `omega = 1.0` and an `eta` that rises. The strong ones end in an
//! omega of 0, with which shared latents have no gradient from the negative.

use burn::tensor::{Bool, Tensor};
use serde::{Deserialize, Serialize};
use toml::Table;
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Error, Result};

use crate::schedule::Schedule;

/// How omega and eta change (T1 table 5.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdaptiveSchedule {
    /// Omega 0.5; eta from 0 to 0.5.
    Threshold,
    /// Omega from 1 to 0.5; eta 0.5. What T1 chooses in the end.
    #[default]
    WeightWeak,
    /// Omega from 1 to 0; eta 0.5.
    WeightStrong,
    /// Omega from 1 to 0.5; eta from 0 to 0.5.
    BothWeak,
    /// Omega from 1 to 0; eta from 0 to 0.5.
    BothStrong,
    /// As the settings `omega` and `eta` say.
    Custom,
}

/// Which [`AdaptiveSchedule`] is taken.
pub const SCHEDULE: Setting = Setting {
    name: "schedule",
    values: Values::OneOf(&["threshold", "weight_weak", "weight_strong", "both_weak", "both_strong", "custom"]),
    meaning: "how omega and eta change while training",
};

/// How long it takes; T1's runs took 86,400 steps.
pub const SCHEDULE_STEPS: Setting = Setting {
    name: "schedule_steps",
    values: Values::Whole(1, i64::MAX as u64),
    meaning: "how many steps a schedule takes, but a custom one; as many as the run where left out",
};
pub(crate) const DEFAULT_SCHEDULE_STEPS: u64 = 86_400;

/// The weight of latents that anchor and negative share.
pub const OMEGA: Setting = Setting {
    name: "omega",
    values: Values::Schedule(0.0, 1.0),
    meaning: "weight of latents that anchor and negative share, where the schedule is custom",
};
pub(crate) const DEFAULT_OMEGA: Schedule = Schedule::Constant(0.5);

/// Where the threshold lies.
pub const ETA: Setting = Setting {
    name: "eta",
    values: Values::Schedule(0.0, 1.0),
    meaning: "threshold between the smallest (0) and largest (1) distance, where the schedule is custom",
};
pub(crate) const DEFAULT_ETA: Schedule = Schedule::Constant(0.5);

/// Which distance the threshold lies in; [`crate::adaptive::DISTANCE`] under another name.
pub const THRESHOLD_DISTANCE: Setting = Setting { name: "threshold_distance", ..crate::adaptive::DISTANCE };

/// Which setting is as long as the run where left out: none where the schedule is custom, for `omega` and `eta` have lengths of their own.
pub fn as_long_as_the_run(settings: &Table) -> Option<&'static str> {
    let is_custom = settings.get(SCHEDULE.name).is_some_and(|schedule| schedule.as_str() == Some("custom"));
    (!is_custom).then_some(SCHEDULE_STEPS.name)
}

impl AdaptiveSchedule {
    /// Omega and eta at a step (counted from 0) of a schedule over so many steps, after which they stay; or of the settings, where it is
    /// custom.
    pub fn at(self, step: u64, steps: u64, omega: &Schedule, eta: &Schedule) -> [f64; 2] {
        let done = (step as f64 / steps as f64).min(1.0);
        let (weak, strong, rising) = (1.0 - 0.5 * done, 1.0 - done, 0.5 * done);
        match self {
            Self::Threshold => [0.5, rising],
            Self::WeightWeak => [weak, 0.5],
            Self::WeightStrong => [strong, 0.5],
            Self::BothWeak => [weak, rising],
            Self::BothStrong => [strong, rising],
            Self::Custom => [omega.at(step), eta.at(step)],
        }
    }

    /// Refuses what is out of range, and what would be ignored: an omega or eta, or the steps of a custom schedule.
    pub fn check(self, steps: u64, omega: &Schedule, eta: &Schedule) -> Result<()> {
        check_range("schedule_steps", steps, 1, i64::MAX as u64)?;
        if self == Self::Custom && steps != DEFAULT_SCHEDULE_STEPS {
            return Err(Error::new("setting \"schedule_steps\" is given, but the schedule is custom").help(
                "leave \"schedule_steps\" out; \"omega\" and \"eta\" have steps of their own: { from = 1.0, to = 0.5, steps = 1_000 }",
            ));
        }
        for (name, value, default) in [("omega", omega, DEFAULT_OMEGA), ("eta", eta, DEFAULT_ETA)] {
            value.check(name, 0.0, 1.0)?;
            if self != Self::Custom && *value != default {
                let message = format!("setting \"{name}\" is given, but the schedule decides it");
                return Err(Error::new(message).help(format!("leave \"{name}\" out, or set schedule = \"custom\"")));
            }
        }
        Ok(())
    }
}

/// Differences of anchor and negative, `[batch, latents]`, those of shared latents times omega (T1 eq 5.19, 5.20).
pub fn weighted(differences: Tensor<2>, shared: &Tensor<2, Bool>, omega: f64) -> Tensor<2> {
    let less = differences.clone() * omega;
    differences.mask_where(shared.clone(), less)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adaptive::shared_latents;
    use crate::device::Device;
    use crate::tensors::floats;
    use crate::triplet::Distance;

    /// T1 table 5.2, with the omega of `threshold` that T1 was made with.
    const TABLE: [(AdaptiveSchedule, [f64; 2], [f64; 2]); 5] = [
        (AdaptiveSchedule::Threshold, [0.5, 0.5], [0.0, 0.5]),
        (AdaptiveSchedule::WeightWeak, [1.0, 0.5], [0.5, 0.5]),
        (AdaptiveSchedule::WeightStrong, [1.0, 0.0], [0.5, 0.5]),
        (AdaptiveSchedule::BothWeak, [1.0, 0.5], [0.0, 0.5]),
        (AdaptiveSchedule::BothStrong, [1.0, 0.0], [0.0, 0.5]),
    ];

    #[test]
    fn schedules_are_those_of_the_table() {
        let ignored = Schedule::Constant(0.25);
        for (schedule, omega, eta) in TABLE {
            let middle = |ends: [f64; 2]| (ends[0] + ends[1]) / 2.0;
            for (step, wanted) in [
                (0, [omega[0], eta[0]]),
                (50, [middle(omega), middle(eta)]),
                (100, [omega[1], eta[1]]),
                (999, [omega[1], eta[1]]),
            ] {
                assert_eq!(schedule.at(step, 100, &ignored, &ignored), wanted, "{schedule:?} at {step}");
            }
        }
        let rising = Schedule::try_from(toml::Value::Table("from = 0\nto = 1\nsteps = 4".parse().unwrap())).unwrap();
        assert_eq!(AdaptiveSchedule::Custom.at(1, 100, &ignored, &rising), [0.25, 0.25]);
    }

    /// Differences 0.5, -1, 2 and 4: the least is 0.5, the largest 4. The threshold (1 - eta) 0.5 + eta 4 is 0.5 for eta 0, with
    /// which nothing is shared; 1.375 for eta 1/4, with which the first two are; 2.25 for eta 1/2, with which the first three are. So
    /// the weighted distances are 7.5, 6 + 1.5 omega and 4 + 3.5 omega.
    #[test]
    fn threshold_shared_latents_and_weights_by_hand_at_each_schedule() {
        let differences = Device::cpu().recording_tensor(vec![0.5, -1.0, 2.0, 4.0], [1, 4]);
        let distance = |schedule: AdaptiveSchedule, step: u64| {
            let [omega, eta] = schedule.at(step, 100, &DEFAULT_OMEGA, &DEFAULT_ETA);
            let shared = shared_latents(differences.clone().abs(), eta);
            let n_shared: f32 = floats(shared.clone().float()).into_iter().sum();
            (n_shared, floats(Distance::L1.of(weighted(differences.clone(), &shared, omega)))[0])
        };
        let by_hand: [(AdaptiveSchedule, [(f32, f32); 3]); 5] = [
            (AdaptiveSchedule::Threshold, [(0.0, 7.5), (2.0, 6.75), (3.0, 5.75)]), // omega 0.5 throughout
            (AdaptiveSchedule::WeightWeak, [(3.0, 7.5), (3.0, 6.625), (3.0, 5.75)]), // omega 1, 0.75, 0.5
            (AdaptiveSchedule::WeightStrong, [(3.0, 7.5), (3.0, 5.75), (3.0, 4.0)]), // omega 1, 0.5, 0
            (AdaptiveSchedule::BothWeak, [(0.0, 7.5), (2.0, 7.125), (3.0, 5.75)]),
            (AdaptiveSchedule::BothStrong, [(0.0, 7.5), (2.0, 6.75), (3.0, 4.0)]),
        ];
        for (schedule, wanted) in by_hand {
            let found = [0, 50, 100].map(|step| distance(schedule, step));
            assert_eq!(found, wanted, "{schedule:?}");
        }
    }

    #[test]
    fn gradients_go_through_the_weighted_differences() {
        let differences = Device::cpu().recording_tensor(vec![0.5, -1.0, 2.0, 4.0], [1, 4]).require_grad();
        let shared = shared_latents(differences.clone().abs(), 0.5);
        let distance = Distance::L1.of(weighted(differences.clone(), &shared, 0.25));
        let gradients = distance.sum().backward(); // [1, 1]
        assert_eq!(floats(differences.grad(&gradients).unwrap()), [0.25, -0.25, 0.25, 1.0]);
    }

    #[test]
    fn what_would_be_ignored_is_refused() {
        let other = Schedule::Constant(0.25);
        let weak = AdaptiveSchedule::WeightWeak;
        assert!(weak.check(10, &DEFAULT_OMEGA, &DEFAULT_ETA).is_ok());
        let message = weak.check(10, &other, &DEFAULT_ETA).unwrap_err().to_string();
        assert!(message.contains("\"omega\" is given") && message.contains("schedule = \"custom\""), "{message}");
        assert!(weak.check(10, &DEFAULT_OMEGA, &other).is_err());
        assert!(weak.check(0, &DEFAULT_OMEGA, &DEFAULT_ETA).is_err());
        let message = AdaptiveSchedule::Custom.check(10, &other, &other).unwrap_err().to_string();
        assert!(message.contains("\"schedule_steps\" is given, but the schedule is custom"), "{message}");
        assert!(AdaptiveSchedule::Custom.check(DEFAULT_SCHEDULE_STEPS, &other, &other).is_ok());
    }
}
