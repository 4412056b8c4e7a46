//! Whether what must be so for a sentence is so.

use anyhow::Result;

use crate::book::answer::State;
use crate::book::takeaways::condition::{Comparison, Condition, RANGE};
use crate::compute::judging::ALIKE;
use crate::compute::quantity::{Missing, TOO_UNCERTAIN};
use crate::print::across;
use crate::print::calculator::numbers::Numbers;
use crate::print::view::View;
use crate::project::Machine;

/// Whether something is so on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    Certain,
    Not,
}

/// Whether a condition is so over the whole intervals, on a machine.
pub fn holds(condition: &Condition, view: &View, machine: &Machine) -> Result<Result<Truth, Missing>> {
    let is_so = match condition {
        Condition::Compared(own) => match is_so(own, view, machine)? {
            Ok(is_so) => is_so,
            Err(missing) => return Ok(Err(missing)),
        },
        Condition::Answered { case, states } => match answered(view, machine, case)? {
            Some(state) => states.contains(&state),
            None => {
                let reason = format!("the calculator has no answer for {case:?} here");
                return Ok(Err(Missing::new("not measured", reason)));
            }
        },
    };
    Ok(Ok(if is_so { Truth::Certain } else { Truth::Not }))
}

/// How the calculator answers a worked case with a machine's numbers, if these reach so far.
/// Another machine than the one that is shown is asked only for what it measured, and not for what
/// lies between.
pub fn answered(view: &View, machine: &Machine, case: &str) -> Result<Option<State>> {
    view.answered_once(machine, case, || {
        let data = view.calculator()?;
        let numbers = Numbers::read(&data, view, machine)?;
        let case = numbers.worked(data.case(case)?)?;
        if !numbers.has_measured(&case, *machine == view.machine)? {
            return Ok(None);
        }
        Ok(Some(numbers.state(&case)?).filter(|state| state.is_known()))
    })
}

fn is_so(comparison: &Comparison, view: &View, machine: &Machine) -> Result<Result<bool, Missing>> {
    let (left, right) = match (side(view, machine, &comparison.left)?, side(view, machine, &comparison.right)?) {
        (Ok(left), Ok(right)) => (left, right),
        // Nothing is certain of what varies too much to be printed.
        (Err(missing), _) | (_, Err(missing)) if missing.word == TOO_UNCERTAIN => return Ok(Ok(false)),
        (Err(missing), _) | (_, Err(missing)) => return Ok(Err(missing)),
    };
    Ok(Ok(match comparison.sign {
        '>' => left.low > right.high,
        '<' => left.high < right.low,
        _ => left.high < right.low * ALIKE && right.high < left.low * ALIKE,
    }))
}

/// One side of a comparison.
struct Side {
    low: f64,
    high: f64,
}

fn side(view: &View, machine: &Machine, text: &str) -> Result<Result<Side, Missing>> {
    if let Some(name) = text.strip_suffix(RANGE) {
        let medians = across::medians(view, &view.plans.asked(name, None)?)?;
        let ends = medians.first().zip(medians.last()).map(|(low, high)| Side { low: *low, high: *high });
        return Ok(ends.ok_or_else(|| Missing::new("not measured", format!("no machine has measured {name}"))));
    }
    if let Ok(number) = text.parse() {
        return Ok(Ok(Side { low: number, high: number }));
    }
    Ok(match across::measured(view, machine, &view.plans.asked(text, None)?)? {
        Err(missing) => Err(missing),
        // Without an interval nothing is certain.
        Ok(quantity) => {
            let (low, high) = quantity.judged().unwrap_or((f64::NAN, f64::NAN));
            Ok(Side { low, high })
        }
    })
}
