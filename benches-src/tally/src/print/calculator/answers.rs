//! Would a thread per connection do? The answer in one sentence, and what would change it in another.

use anyhow::{Context, Result};

use super::numbers::Numbers;
use super::words::{self, Sentence, Toward};
use super::{At, Bound, Case, Input, Output, Setting, Value};

/// How threads stand to their bounds: the worst of these is the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The whole interval keeps to the bound.
    Yes,
    /// The bound lies within the interval.
    Undecided,
    /// There is no number, or no interval.
    Unknown,
    /// The whole interval lies beyond the bound.
    No,
}

impl State {
    /// A word for scripts and colours.
    pub fn word(self) -> &'static str {
        match self {
            State::Yes => "yes",
            State::Undecided => "undecided",
            State::Unknown => "unknown",
            State::No => "no",
        }
    }
}

pub struct Answer {
    pub state: State,
    /// In a sentence or two.
    pub text: String,
}

/// How an output stands to its bound.
struct Standing<'a> {
    bound: &'a Bound,
    state: State,
    /// How bad it is among others with the same bound and state.
    weight: f64,
    phrase: String,
}

impl Numbers<'_> {
    /// Whether a thread per connection would do.
    pub fn answer(&self, case: &Case) -> Result<Answer> {
        let standings = self.standings(case)?;
        let state = worst(&standings);
        let sentences = &self.data.sentences;
        let (sentence, change) = match state {
            State::Yes => (&sentences.yes, self.still(case)?),
            State::Undecided => (&sentences.undecided, self.would(case)?),
            State::Unknown => (&sentences.unknown, Vec::new()),
            State::No => (&sentences.no, self.would(case)?),
        };
        let changes = if state == State::Yes { &sentences.still } else { &sentences.would };
        Ok(Answer { state, text: sentence.with(&said(&standings, state)) + &after(changes, &change) })
    }

    fn standings(&self, case: &Case) -> Result<Vec<Standing<'_>>> {
        let mut standings = Vec::new();
        for output in self.data.outputs.iter().filter(|output| output.is_for(case)) {
            if let Some(bound) = self.data.bound_of(output)? {
                standings.push(self.standing(case, output, bound)?);
            }
        }
        Ok(standings)
    }

    fn standing<'a>(&self, case: &Case, output: &Output, bound: &'a Bound) -> Result<Standing<'a>> {
        let of = |state, weight, phrase| Ok(Standing { bound, state, weight, phrase });
        // The first is the thread's, or what it takes beyond a task.
        let value = self.compute(case, output, output.whose()[0])?;
        if let Some(phrase) = unknown(self.data.input_of(output)?, &value) {
            return of(State::Unknown, 0.0, phrase);
        }
        let (low, high) = value.ok().and_then(|value| value.interval).expect("what has neither is unknown");
        let limit = self.limit(case, bound)?;
        let (state, phrase) = match bound.at {
            At::Most if high <= 0.0 => (State::Yes, bound.kept_below_0.as_ref().unwrap_or(&bound.kept)),
            At::Most if high <= limit => (State::Yes, &bound.kept),
            At::Most if low > limit => (State::No, &bound.broken),
            At::Least if low >= limit => (State::Yes, &bound.kept),
            At::Least if high < limit => (State::No, &bound.broken),
            _ => (State::Undecided, &bound.undecided),
        };
        let filled = ends([("low", low), ("high", high), ("limit", limit)], output, self.filled(case, phrase));
        of(state, if state == State::No { low } else { high }, filled)
    }

    /// What a bound is in a case: the largest of its limits.
    fn limit(&self, case: &Case, bound: &Bound) -> Result<f64> {
        let limits = bound.limits.iter().map(|limit| self.data.number(case, &limit.expression, None));
        let limits: Vec<f64> = limits.collect::<Result<_>>()?;
        limits.into_iter().reduce(f64::max).with_context(|| format!("bound {} has no limit", bound.name))
    }

    /// A phrase with a case's numbers in it.
    fn filled(&self, case: &Case, phrase: &str) -> String {
        case.values.iter().fold(phrase.to_owned(), |phrase, (name, number)| {
            phrase.replace(&format!("{{{name}}}"), &words::plain(*number))
        })
    }

    /// Up to what of each lever, the others being as they are, threads would still do.
    fn still(&self, case: &Case) -> Result<Vec<String>> {
        let mut parts = Vec::new();
        for setting in self.levers() {
            let own = case.number_of(&setting.name)?;
            let holds = |value| Ok(worst(&self.standings(&case.with(&setting.name, value))?) == State::Yes);
            match most(own, setting.most, holds)? {
                Some(value) if value < setting.most => {
                    parts.push(lever(setting, words::rounded(value, Toward::Below).max(own)));
                }
                _ => {}
            }
        }
        Ok(parts)
    }

    /// Up to what of the levers together threads would do; nothing where no number of them helps.
    fn would(&self, case: &Case) -> Result<Vec<String>> {
        let (mut case, mut parts) = (case.clone(), Vec::new());
        for setting in self.levers() {
            let is_kept = |case: &Case| {
                let standings = self.standings(case)?;
                Ok(standings.iter().all(|own| own.bound.lever != setting.name || own.state == State::Yes))
            };
            if is_kept(&case)? {
                continue;
            }
            let holds = |value| is_kept(&case.with(&setting.name, value));
            let Some(value) = most(setting.least, case.number_of(&setting.name)?, holds)? else {
                return Ok(Vec::new());
            };
            let value = words::rounded(value, Toward::Below).max(setting.least);
            parts.push(lever(setting, value));
            case = case.with(&setting.name, value);
        }
        Ok(parts)
    }

    /// The settings that would change an answer.
    fn levers(&self) -> impl Iterator<Item = &Setting> {
        let is_lever = |setting: &&Setting| self.data.bounds.iter().any(|bound| bound.lever == setting.name);
        self.data.settings.iter().filter(is_lever)
    }
}

fn lever(setting: &Setting, value: f64) -> String {
    format!("{} {}", words::plain(value), setting.label)
}

fn worst(standings: &[Standing]) -> State {
    standings.iter().map(|standing| standing.state).max().unwrap_or(State::Yes)
}

/// The phrases that decide: of several with the same bound, that of the worst.
fn said(standings: &[Standing], state: State) -> Vec<String> {
    let mut said: Vec<&Standing> = Vec::new();
    for standing in standings.iter().filter(|standing| standing.state == state) {
        match said.iter_mut().find(|own| own.bound.name == standing.bound.name) {
            Some(own) if own.weight < standing.weight => *own = standing,
            Some(_) => {}
            None => said.push(standing),
        }
    }
    said.into_iter().map(|standing| standing.phrase.clone()).collect()
}

/// The sentence after another, if it has parts.
fn after(sentence: &Sentence, parts: &[String]) -> String {
    if parts.is_empty() { String::new() } else { format!(" {}", sentence.with(parts)) }
}

/// Why an input decides nothing, if it does not.
pub fn unknown(input: &Input, value: &Value) -> Option<String> {
    let label = &input.label;
    match value {
        Err(missing) => Some(format!("{label} has no number here ({missing})")),
        Ok(estimate) if estimate.interval.is_none() => {
            Some(format!("{label} was measured in {} rounds, and these are too few for an interval", estimate.rounds))
        }
        Ok(_) => None,
    }
}

/// A phrase with the ends of an interval in it, each rounded away from the middle, and the bound, which is not made larger than it is.
fn ends(numbers: [(&str, f64); 3], output: &Output, phrase: String) -> String {
    numbers.into_iter().fold(phrase, |phrase, (name, number)| {
        let toward = if name == "high" { Toward::Above } else { Toward::Below };
        phrase.replace(&format!("{{{name}}}"), &words::end(output.unit, number, toward))
    })
}

/// The largest number in a range up to which something holds; nothing where it does not hold at its beginning. Halving by the geometric mean finds
/// small numbers as exactly as large ones, and roots are the same in every language.
fn most(least: f64, most: f64, holds: impl Fn(f64) -> Result<bool>) -> Result<Option<f64>> {
    const HALVINGS: usize = 60;
    let (mut low, mut high) = (least, most);
    if !holds(low)? || holds(high)? {
        return Ok(if holds(low)? { Some(high) } else { None });
    }
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        if holds(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(Some(low))
}
