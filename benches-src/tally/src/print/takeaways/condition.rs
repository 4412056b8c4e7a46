//! What must be so for a sentence to be said.

use anyhow::{Context, Result, bail};

use crate::book::expression::Expression;
use crate::compute::judging::ALIKE;
use crate::compute::quantity::{Missing, TOO_UNCERTAIN};
use crate::print::across;
use crate::print::calculator::answers::State;
use crate::print::calculator::numbers::Numbers;
use crate::print::view::View;
use crate::project::Machine;

/// Whether something is so on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    Certain,
    Not,
}

/// What must be so.
pub enum Condition {
    /// Two expressions that are compared.
    Compared(Comparison),
    /// The calculator answers a worked case in one of these ways.
    Answered { case: String, states: Vec<State> },
}

pub struct Comparison {
    pub left: String,
    sign: char,
    pub right: String,
}

/// Behind a quantity's name: the least and the largest number of it that any machine has.
pub const RANGE: &str = " range";

/// Behind a quantity's name: how many machines have it.
pub const MACHINES: &str = " machines";

/// The quantity that stands between braces.
pub fn name_in(text: &str) -> &str {
    text.strip_suffix(RANGE).or_else(|| text.strip_suffix(MACHINES)).unwrap_or(text)
}

impl Condition {
    pub fn read(text: &str) -> Result<Self> {
        for sign in ['>', '<', '~'] {
            if let Some((left, right)) = text.split_once(&format!(" {sign} ")) {
                let (left, right) = (left.trim().to_owned(), right.trim().to_owned());
                return Ok(Self::Compared(Comparison { left, sign, right }));
            }
        }
        if let Some((case, words)) = text.split_once(" is ") {
            let state = |word: &str| State::ALL.into_iter().find(|state| state.word() == word);
            let states: Option<Vec<State>> = words.split(" or ").map(state).collect();
            let known = State::ALL.map(State::word).join(", ");
            let states =
                states.with_context(|| format!("{words:?} is no answer of the calculator; there are: {known}"))?;
            return Ok(Self::Answered { case: case.to_owned(), states });
        }
        bail!(
            "{text:?} is no condition; it has >, < or ~ between two quantities, or says how the calculator answers a case"
        )
    }

    /// Whether it is so over the whole intervals, on a machine.
    pub fn holds(&self, view: &View, machine: &Machine) -> Result<Result<Truth, Missing>> {
        let is_so = match self {
            Self::Compared(own) => match own.is_so(view, machine)? {
                Ok(is_so) => is_so,
                Err(missing) => return Ok(Err(missing)),
            },
            Self::Answered { case, states } => match answered(view, machine, case)? {
                Some(state) => states.contains(&state),
                None => {
                    let reason = format!("the calculator has no answer for {case:?} here");
                    return Ok(Err(Missing::new("not measured", reason)));
                }
            },
        };
        Ok(Ok(if is_so { Truth::Certain } else { Truth::Not }))
    }
}

/// How the calculator answers a worked case with a machine's numbers, if these reach so far.
/// Another machine than the one that is shown is asked only for what it measured, and not for what
/// lies between.
pub fn answered(view: &View, machine: &Machine, case: &str) -> Result<Option<State>> {
    let data = view.calculator()?;
    let numbers = Numbers::read(&data, view, machine)?;
    let case = numbers.worked(data.case(case)?)?;
    if !numbers.has_measured(&case, *machine == view.machine)? {
        return Ok(None);
    }
    Ok(Some(numbers.state(&case)?).filter(|state| state.is_known()))
}

impl Comparison {
    fn is_so(&self, view: &View, machine: &Machine) -> Result<Result<bool, Missing>> {
        let (left, right) = match (side(view, machine, &self.left)?, side(view, machine, &self.right)?) {
            (Ok(left), Ok(right)) => (left, right),
            // Nothing is certain of what varies too much to be printed.
            (Err(missing), _) | (_, Err(missing)) if missing.word == TOO_UNCERTAIN => return Ok(Ok(false)),
            (Err(missing), _) | (_, Err(missing)) => return Ok(Err(missing)),
        };
        Ok(Ok(match self.sign {
            '>' => left.low > right.high,
            '<' => left.high < right.low,
            _ => left.high < right.low * ALIKE && right.high < left.low * ALIKE,
        }))
    }
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
    let expression = Expression::parse(text)?;
    if let Expression::Number(number) = expression {
        return Ok(Ok(Side { low: number, high: number }));
    }
    Ok(match across::measured(view, machine, &view.plans.ask(expression, None)?)? {
        Err(missing) => Err(missing),
        // Without an interval nothing is certain.
        Ok(quantity) => {
            let (low, high) = quantity.judged().unwrap_or((f64::NAN, f64::NAN));
            Ok(Side { low, high })
        }
    })
}
