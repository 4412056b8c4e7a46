//! Would a thread per connection do? The answer in one sentence, and what would change it in
//! another.

use anyhow::{Context, Result};

use super::numbers::Numbers;
use super::words::{self, Sentence, Toward};
pub use crate::book::answer::State;

use super::{At, Bound, Case, Input, Kind, Output, Setting, Value};
use crate::statistics::Estimate;

pub struct Answer {
    pub state: State,
    /// In a sentence or two.
    pub text: String,
}

/// How an output stands to its bound.
struct Standing<'a> {
    output: &'a Output,
    bound: &'a Bound,
    state: State,
    /// How bad it is among others with the same bound and state.
    weight: f64,
    phrase: String,
}

impl Numbers<'_> {
    /// Whether a thread per connection would do, in a word: a sentence also asks up to what they
    /// would.
    pub fn state(&self, case: &Case) -> Result<State> {
        Ok(worst(&self.standings(case)?))
    }

    /// Whether a thread per connection would do.
    pub fn answer(&self, case: &Case) -> Result<Answer> {
        let standings = self.standings(case)?;
        let sentences = &self.data.sentences;
        let state = worst(&standings);
        let (sentence, changes, change) = match state {
            State::Yes => (&sentences.yes, &sentences.still, self.still(case)?),
            State::Probably => (&sentences.probably, &sentences.would, self.would(case)?),
            State::Open => (&sentences.open, &sentences.would, self.would(case)?),
            State::Hardly => (&sentences.hardly, &sentences.would, self.would(case)?),
            State::No => (&sentences.no, &sentences.would, self.would(case)?),
            State::Unknown => (&sentences.unknown, &sentences.would, Vec::new()),
            State::Senseless => {
                let text = sentences.senseless.with(&said(&standings, Kind::Sense, |own| own == State::No));
                return Ok(Answer { state, text });
            }
        };
        let raised = said(&standings, Kind::Raised, |own| !matches!(own, State::Yes | State::Unknown));
        let parts = [
            after(changes, &change),
            after(&sentences.pool, &pooled(&standings, state)),
            after(&sentences.raise, &raised),
            after(&sentences.beyond, &self.beyond(case, &standings, state)?),
        ];
        Ok(Answer {
            state,
            text: sentence.with(&said(&standings, Kind::Decides, |own| own == state)) + &parts.concat(),
        })
    }

    fn standings(&self, case: &Case) -> Result<Vec<Standing<'_>>> {
        let mut standings = Vec::new();
        for output in &self.data.outputs {
            if let Some(bound) = self.data.bound_of(output)? {
                standings.push(self.standing(case, output, bound)?);
            }
        }
        Ok(standings)
    }

    fn standing<'a>(&self, case: &Case, output: &'a Output, bound: &'a Bound) -> Result<Standing<'a>> {
        let of = |state, weight, phrase| Ok(Standing { output, bound, state, weight, phrase });
        // The first is the thread's, or what it takes beyond a task.
        let value = self.compute(case, output, output.whose()[0])?;
        if let Some(phrase) = unknown(self.data.input_of(output)?, &value) {
            return of(State::Unknown, 0.0, phrase);
        }
        let Ok(value) = value else { unreachable!("what is missing is unknown") };
        let (low, high) = value.interval.context("what has no interval is unknown")?;
        let limit = self.limit(case, bound)?;
        let state = match stands(bound.at, value.median, (low, high), limit) {
            // What lies beyond was not measured, and the nearest is no proof of it.
            State::No if self.beyond_of(case, output, &value)?.is_some() => State::Hardly,
            state => state,
        };
        let phrase = match state {
            State::Yes if bound.at == At::Most && high <= 0.0 => bound.kept_below_0.as_ref().unwrap_or(&bound.kept),
            State::Yes => &bound.kept,
            State::No => &bound.broken,
            _ => &bound.between,
        };
        let filled = ends([("low", low), ("high", high), ("limit", limit)], output, self.filled(case, phrase));
        of(state, if state == State::No { low } else { high }, filled)
    }

    /// Beyond what the inputs that decide here were measured.
    fn beyond(&self, case: &Case, standings: &[Standing], state: State) -> Result<Vec<String>> {
        let mut parts = Vec::new();
        let decide = |own: &&Standing| own.bound.kind == Kind::Decides && own.state == state;
        for Standing { output, .. } in standings.iter().filter(decide) {
            let Ok(value) = self.compute(case, output, output.whose()[0])? else { continue };
            if let Some((along, most)) = self.beyond_of(case, output, &value)? {
                let (input, setting) = (self.data.input_of(output)?, &self.data.setting(along)?.label);
                parts.push(format!("{} with more than {} {setting}", input.label, words::plain(most)));
            }
        }
        Ok(parts)
    }

    /// The setting in which a case goes beyond what an output's input was measured with, and how
    /// far that was; nothing where the output comes to nothing.
    fn beyond_of<'a>(&'a self, case: &Case, output: &Output, value: &Estimate) -> Result<Option<(&'a str, f64)>> {
        let input = self.data.input_of(output)?;
        let Some(along) = &input.along else { return Ok(None) };
        let Some((most, _)) = self.points(input, output.whose()[0]).last().copied() else { return Ok(None) };
        let takes_part = value.interval != Some((0.0, 0.0));
        Ok((takes_part && case.number_of(along)? > most).then_some((along, most)))
    }

    /// What a bound is in a case: the largest of its limits.
    fn limit(&self, case: &Case, bound: &Bound) -> Result<f64> {
        let limits = bound.limits.iter().map(|limit| self.data.number(case, &limit.expression, None));
        let limits: Vec<f64> = limits.collect::<Result<_>>()?;
        let largest =
            limits.into_iter().reduce(f64::max).with_context(|| format!("bound {} has no limit", bound.name))?;
        match &bound.cap {
            None => Ok(largest),
            Some(cap) => Ok(largest.min(self.data.number(case, &cap.expression, None)?)),
        }
    }

    /// A phrase with a case's numbers in it.
    fn filled(&self, case: &Case, phrase: &str) -> String {
        case.values.iter().fold(phrase.to_owned(), |phrase, (name, number)| {
            phrase.replace(&format!("{{{name}}}"), &words::plain(*number))
        })
    }

    /// Up to what of each lever, the others and the machine's limits being as they are, threads
    /// would still do.
    fn still(&self, case: &Case) -> Result<Vec<String>> {
        let mut parts = Vec::new();
        for setting in self.levers() {
            let own = case.number_of(&setting.name)?;
            let holds = |value| {
                let standings = self.standings(&case.with(&setting.name, value))?;
                let is_raised = |own: &Standing| own.bound.kind == Kind::Raised && own.state != State::Yes;
                Ok(worst(&standings) == State::Yes && !standings.iter().any(is_raised))
            };
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
                let decides = |own: &&Standing| own.bound.kind == Kind::Decides && own.bound.lever == setting.name;
                Ok(standings.iter().filter(decides).all(|own| own.state == State::Yes))
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
        let moves = |bound: &Bound, setting: &Setting| bound.kind == Kind::Decides && bound.lever == setting.name;
        self.data.settings.iter().filter(move |setting| self.data.bounds.iter().any(|bound| moves(bound, setting)))
    }
}

fn lever(setting: &Setting, value: f64) -> String {
    format!("{} {}", words::plain(value), setting.label)
}

/// How an interval stands to a limit. What must be at most a limit has no effect at 0.
fn stands(at: At, median: f64, (low, high): (f64, f64), limit: f64) -> State {
    let is_kept = |value: f64| if at == At::Most { value <= limit } else { value >= limit };
    match (is_kept(low), is_kept(median), is_kept(high)) {
        (true, _, true) => State::Yes,
        (false, _, false) => State::No,
        (_, true, _) => State::Probably,
        _ if at == At::Most && low <= 0.0 => State::Open,
        _ => State::Hardly,
    }
}

fn worst(standings: &[Standing]) -> State {
    if standings.iter().any(|own| own.bound.kind == Kind::Sense && own.state == State::No) {
        return State::Senseless;
    }
    let decide = standings.iter().filter(|own| own.bound.kind == Kind::Decides);
    decide.map(|own| own.state).max().unwrap_or(State::Yes)
}

/// The phrases of the bounds of a kind that stand so: of several with the same bound, that of the
/// worst.
fn said(standings: &[Standing], kind: Kind, is_so: impl Fn(State) -> bool) -> Vec<String> {
    let mut said: Vec<&Standing> = Vec::new();
    for standing in standings.iter().filter(|own| own.bound.kind == kind && is_so(own.state)) {
        match said.iter_mut().find(|own| own.bound.name == standing.bound.name) {
            Some(own) if own.weight < standing.weight => *own = standing,
            Some(_) => {}
            None => said.push(standing),
        }
    }
    said.into_iter().map(|standing| standing.phrase.clone()).collect()
}

/// What a pool takes where a thread per connection may not do; nothing where one of its prices is
/// not known, or there are no calls to wait for.
fn pooled(standings: &[Standing], state: State) -> Vec<String> {
    let mut pool = standings.iter().filter(|own| own.bound.kind == Kind::Pool);
    if matches!(state, State::Yes | State::Unknown) || pool.any(|own| own.weight == 0.0) {
        return Vec::new();
    }
    said(standings, Kind::Pool, |_| true)
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

/// A phrase with the ends of an interval in it, each rounded away from the middle, and the bound,
/// which is not made larger than it is.
fn ends(numbers: [(&str, f64); 3], output: &Output, phrase: String) -> String {
    numbers.into_iter().fold(phrase, |phrase, (name, number)| {
        let toward = if name == "high" { Toward::Above } else { Toward::Below };
        phrase.replace(&format!("{{{name}}}"), &words::end(output.unit, number, toward))
    })
}

/// The largest number in a range up to which something holds; nothing where it does not hold at its
/// beginning. Halving by the geometric mean finds small numbers as exactly as large ones, and roots
/// are the same in every language.
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
