//! How far a machine's numbers move from one session of the same programs to the next: what its
//! headlines say in each.

use anyhow::Result;

use crate::print::format;
use crate::print::view::View;
use crate::project::Machine;

/// How far headlines moved, sorted.
pub struct Steadiness {
    moved: Vec<f64>,
}

impl Steadiness {
    /// Of every experiment of which the machine has two sessions or more.
    pub fn of(view: &View, machine: &Machine) -> Result<Self> {
        let view = view.of_machine(machine.clone());
        let mut moved = Vec::new();
        for (plan, experiment) in view.plans.experiments() {
            moved.extend(spread(&view.headline_in_each(plan, experiment)?));
        }
        moved.sort_by(f64::total_cmp);
        Ok(Self { moved })
    }

    /// Whether there is anything to tell.
    pub fn is_known(&self) -> bool {
        !self.moved.is_empty()
    }

    /// In a sentence without a full stop.
    pub fn in_words(&self) -> String {
        match self.moved[..] {
            [] => "no headline was measured in two sessions of the very same build, so nobody knows how far it moves"
                .to_owned(),
            [only] => format!(
                "one headline was measured in several sessions of the very same build, and moved by {}",
                format::percent(only)
            ),
            [.., most] => format!(
                "{} headlines were measured in several sessions of the very same build: half of them moved by {} at \
                 most, the farthest by {}",
                self.moved.len(),
                format::percent(self.moved[(self.moved.len() - 1) / 2]),
                format::percent(most)
            ),
        }
    }
}

/// By which share of the least the greatest lies above it; nothing of fewer than two.
fn spread(values: &[f64]) -> Option<f64> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    (values.len() > 1 && least > 0.0).then(|| most / least - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_is_told_in_its_middle_and_at_its_end() {
        assert_eq!(spread(&[2.0]), None);
        assert_eq!(spread(&[0.0, 1.0]), None);
        assert_eq!(spread(&[2.0, 3.0, 2.5]), Some(0.5));
        let of = |moved: &[f64]| Steadiness { moved: moved.to_vec() }.in_words();
        assert!(of(&[]).contains("nobody knows"));
        assert!(of(&[0.25]).contains("one headline") && of(&[0.25]).contains("25.0 %"));
        let four = of(&[0.01, 0.04, 0.09, 0.5]);
        assert!(
            four.contains("4 headlines") && four.contains("4.00 % at most") && four.contains("the farthest by 50.0 %"),
            "{four}"
        );
    }
}
