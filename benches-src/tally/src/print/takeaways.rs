//! Findings as flat sentences, chosen by the data: the first case whose conditions all hold for
//! certain. What was not measured has no sentence.

mod condition;

use anyhow::{Result, bail};

pub use condition::answered;
use condition::{Truth, holds};

use crate::book::takeaways::Case;
use crate::book::takeaways::condition::Condition;
use crate::compute::quantity::Missing;
use crate::print::render::Form;
use crate::print::sentences::{is_open, sentence};
use crate::print::view::View;
use crate::project::Machine;

/// The case whose conditions hold on the machine that is shown, or why none is chosen.
pub fn chosen<'a>(view: &View, cases: &'a [Case]) -> Result<Result<&'a Case, Missing>> {
    chosen_on(view, &view.machine, cases)
}

/// The same on any machine.
pub fn chosen_on<'a>(view: &View, machine: &Machine, cases: &'a [Case]) -> Result<Result<&'a Case, Missing>> {
    'cases: for case in cases {
        for text in &case.when {
            match holds(&Condition::read(text)?, view, machine)? {
                Err(missing) => return Ok(Err(missing)),
                Ok(Truth::Not) => continue 'cases,
                Ok(Truth::Certain) => {}
            }
        }
        return Ok(Ok(case));
    }
    bail!("the last case has conditions, and none holds")
}

/// The sentence of the case that is chosen, or why there is none. Where fewer than half of the
/// machines draw the same conclusion, it says so.
pub fn said(view: &View, cases: &[Case], form: Form) -> Result<Result<String, Missing>> {
    let case = match chosen(view, cases)? {
        Ok(case) => case,
        Err(missing) => return Ok(Err(missing)),
    };
    let said = sentence(view, &case.say, form)?;
    if !concludes(case, cases) {
        return Ok(said);
    }
    let is_alike = |own: &Case| std::ptr::eq(own, case) || own.choice.is_some() && own.choice == case.choice;
    let among = Among::of(view, cases, is_alike)?;
    Ok(said.map(|said| if among.is_contradicted() { format!("{said} {}", among.note(form)) } else { said }))
}

/// Whether a case draws a conclusion, which other machines can contradict. Among cases that advise,
/// one that does not is of what is too uncertain.
fn concludes(case: &Case, cases: &[Case]) -> bool {
    if cases.iter().any(|own| own.choice.is_some()) {
        return case.choice.is_some();
    }
    !case.when.is_empty() || !is_open(&case.say)
}

/// How many machines say of a finding what the one that is shown says.
#[derive(Debug, Clone, Copy)]
pub struct Among {
    alike: usize,
    of: usize,
}

impl Among {
    /// Those that choose a case like the one here, of those that have all that is asked.
    pub fn of(view: &View, cases: &[Case], is_alike: impl Fn(&Case) -> bool) -> Result<Self> {
        Self::count(view, |machine| Ok(chosen_on(view, machine, cases)?.ok().map(&is_alike)))
    }

    /// Of the machines that can tell, those of which it is so.
    pub fn count(view: &View, is_so: impl FnMut(&Machine) -> Result<Option<bool>>) -> Result<Self> {
        let said = view.answers(is_so)?;
        Ok(Self { alike: said.iter().filter(|is_so| **is_so).count(), of: said.len() })
    }

    /// Those that say the other of two things.
    pub fn others(self) -> Self {
        Self { alike: self.of - self.alike, ..self }
    }

    /// Whether fewer than half say the same.
    pub fn is_contradicted(self) -> bool {
        2 * self.alike < self.of
    }

    /// A sentence, for behind the finding.
    pub fn note(self, form: Form) -> String {
        let words = match self.alike {
            // The one that is shown.
            1 => format!("None of {} other machines agrees.", self.of - 1),
            alike => format!("{alike} of {} machines agree.", self.of),
        };
        match form {
            Form::Page => format!("<span class=\"among\">{words}</span>"),
            Form::Text | Form::Json => words,
        }
    }

    /// A few words, for a table.
    pub fn words(self) -> String {
        format!("{} of {}", self.alike, self.of)
    }
}
