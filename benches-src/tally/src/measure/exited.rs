//! How a process ended: what it reported, or how it failed.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use observation::Observation;

use crate::book::cell::Cell;
use crate::record::private::recorded;
use crate::record::validity;
use crate::record::{Failure, Raw};

/// How a process ended and what it wrote.
pub(super) struct ExitedProcess<'a> {
    /// None if its time ran out.
    pub(super) status: Option<ExitStatus>,
    pub(super) limit: Duration,
    pub(super) output: String,
    pub(super) errors: String,
    pub(super) checkout: &'a Path,
}

impl ExitedProcess<'_> {
    /// What it reported, if it reported on the cell.
    pub(super) fn observation(&self, chapter: &str, cell: &Cell) -> Result<Raw, Failure> {
        let exit = match self.status {
            None => Some(format!("killed, because it gave no answer within {} s", self.limit.as_secs())),
            Some(status) if status.success() => None,
            Some(status) => Some(match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit status {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) => status.to_string(),
            }),
        };
        if let Some(exit) = exit {
            return Err(self.failure(exit));
        }
        let printed: Observation = serde_json::from_str(&self.output)
            .map_err(|error| self.failure(format!("what it printed is no observation ({error})")))?;
        let mut observation = Raw::from(printed);
        let reasons = observation.unavailable.iter_mut().map(|(_, reason)| reason);
        for words in reasons.chain(&mut observation.doubts) {
            *words = recorded(words, self.checkout);
        }
        if !validity::is_of(&observation, cell, chapter) {
            return Err(self.failure(format!("it reported on {} instead of {cell}", observation.program)));
        }
        // By the same rules by which the record is read: what it would be refused for is a failure
        // of this process alone.
        let sound = validity::observation(&observation, cell, chapter);
        sound.map_err(|error| self.failure(format!("it reported what cannot be: {error:#}")))?;
        Ok(observation)
    }

    /// A failure with what it wrote last. What a tool or a program printed may stand in its reason
    /// too.
    pub(super) fn failure(&self, exit: String) -> Failure {
        let exit = recorded(&exit, self.checkout).chars().take(400).collect();
        let lines: Vec<&str> = self.errors.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(3)..];
        Failure { exit, last_lines: last.iter().map(|line| line.chars().take(200).collect()).collect() }
    }

    /// What a program says when its command line makes no sense to it.
    pub(super) fn usage_error(&self) -> Option<String> {
        let misused = self.status.and_then(|status| status.code()) == Some(2);
        misused.then(|| self.errors.lines().next().unwrap_or("no message").to_owned())
    }
}
