//! What must be so for a sentence to be said.

use anyhow::{Context, Result, bail};

use crate::book::answer::State;

/// What must be so.
pub enum Condition {
    /// Two expressions that are compared.
    Compared(Comparison),
    /// The calculator answers a worked case in one of these ways.
    Answered { case: String, states: Vec<State> },
}

pub struct Comparison {
    pub left: String,
    pub sign: char,
    pub right: String,
}

/// Behind a quantity's name: the least and the largest number of it that any machine has.
pub const RANGE: &str = " range";

/// Behind a quantity's name: how many machines have it.
pub const MACHINES: &str = " machines";

/// Behind a ratio's name: that it is not clearly different from 1, where that is so.
pub const UNCLEAR: &str = " unclear";

/// What is said where it is so.
pub const NOT_CLEAR: &str = ", not clearly different";

/// The same in parentheses, where room is short.
pub const NOT_CLEAR_SHORT: &str = ", unclear";

/// The quantity that stands between braces.
pub fn name_in(text: &str) -> &str {
    [RANGE, MACHINES, UNCLEAR].iter().find_map(|suffix| text.strip_suffix(suffix)).unwrap_or(text)
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
            "{text:?} is no condition; it has >, < or ~ between two quantities, or says how the calculator answers a \
             case"
        )
    }
}
