//! The entry of programs that say how many units can be alive at once.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;
use harness::{Described, Findings, Unavailable, described};
use observation::Measure;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::ceilings::{Needs, allowed, ceilings, nearest};
use crate::climb::{Climb, End, Ledger, Order, Report, prepare};
use crate::count;
use crate::machine::{Machine, Roots};

/// How far a climb may go.
#[derive(Args, Serialize, Deserialize, Clone, Copy)]
pub struct Bounds {
    /// How many are enough
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub most: u64,
    /// Whether to go on until something says no, instead of to half of the nearest predicted ceiling
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set)]
    pub push: bool,
    /// Whether fewer are of no interest, so that nothing is done where a limit does not allow as many
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set)]
    pub insist: bool,
}

/// The parameters of such a program.
#[derive(Args, Serialize, Deserialize, Clone)]
pub struct Asked<P: Args> {
    #[command(flatten)]
    #[serde(flatten)]
    bounds: Bounds,
    #[command(flatten)]
    #[serde(flatten)]
    own: P,
}

/// How a climb ended, as seen from outside.
#[derive(Debug)]
pub struct Outcome {
    /// How many were added for certain.
    pub added: u64,
    /// What the climb itself said at its end; nothing if it was killed.
    pub report: Option<Report>,
    /// How its process ended.
    pub status: ExitStatus,
    /// The last line it wrote to standard error.
    pub last_line: String,
}

const CLIMB: &str = "climb";

/// What the last line of a climb begins with where this machine cannot do what it was asked for.
const UNAVAILABLE: &str = "error: unavailable, because ";

/// The whole of a program's `main`. `needs` says what one unit takes at most with these parameters, and the function adds units: it runs in a
/// climbing process, another one of the same program. This one reports how far that has come.
pub fn reach<P: Args + Serialize + DeserializeOwned>(
    name: &str,
    needs: impl Fn(&P) -> Needs,
    program: impl FnOnce(P, Climb) -> Result<()>,
) -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match &arguments[..] {
        [_, word, order] if word == CLIMB => match climbing(order, needs, program) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error:#}");
                ExitCode::FAILURE
            }
        },
        _ => harness::once(name, MEASURES, |Asked { bounds, own }, _, report| {
            report.give(reached(bounds, &needs(&own), &own)?)
        }),
    }
}

fn climbing<P: DeserializeOwned>(
    order: &str,
    needs: impl Fn(&P) -> Needs,
    program: impl FnOnce(P, Climb) -> Result<()>,
) -> Result<()> {
    use std::os::fd::AsFd;
    let order: Order = serde_json::from_str(order).context("the order of a climb cannot be read")?;
    let ledger = std::io::stdout().as_fd().try_clone_to_owned()?;
    prepare(&order)?;
    let parameters = serde_json::from_value(order.parameters.clone()).context("in the order of a climb")?;
    let needs = needs(&parameters);
    program(parameters, Climb::new(order, Ledger::new(File::from(ledger)), &needs))
}

/// Sends a process of a program up, and waits for its end. Its standard output is the ledger.
pub fn send_up(program: impl AsRef<OsStr>, order: &Order) -> Result<Outcome> {
    let program = Path::new(program.as_ref());
    let (ledger, mut errors) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut command = Command::new(program);
    command.args([CLIMB, &serde_json::to_string(order)?]).stdin(Stdio::null());
    command.stdout(ledger.try_clone()?).stderr(errors.try_clone()?);
    let name = program.file_name().unwrap_or_default().display().to_string();
    let mut child = command.spawn().with_context(|| format!("cannot start {name}; build all programs together"))?;
    let status = child.wait()?;
    let (mut bytes, (added, report)) = (Vec::new(), Ledger::new(ledger).read()?);
    errors.rewind()?;
    errors.read_to_end(&mut bytes)?;
    let said = String::from_utf8_lossy(&bytes);
    let last_line = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    Ok(Outcome { added, report, status, last_line })
}

impl Order {
    /// Up to so many units, in a child of this process.
    pub fn new(most: u64, parameters: &impl Serialize) -> Result<Self> {
        Ok(Self {
            roots: Roots::default(),
            most,
            nofile: None,
            nproc: None,
            occupied_mappings: 0,
            group: None,
            parent: std::process::id(),
            parameters: serde_json::to_value(parameters)?,
        })
    }
}

/// What such a program may report.
const MEASURES: &[Described] = &[
    described("reached", "1", "how many were alive at once"),
    described("enough", "1", "1 if as many as were asked for were, else 0"),
    described("refused", "1", "1 if adding one failed, else 0"),
    described("aborted", "1", "1 if the climbing process was ended in the middle of it, else 0"),
    described("kept_memory", "1", "1 if it stopped since no more than a quarter of the memory was free, else 0"),
    described("predicted", "1", "the nearest ceiling that the limits imply"),
    described("first_error", "1", "the number of the system's error, where one ended the climb"),
    described("mappings_each", "1", "mappings of the process that each unit took"),
    described("descriptors_each", "1", "descriptors that each unit took"),
];

/// Sends a climb up and tells how far it has come.
fn reached(bounds: Bounds, needs: &Needs, own: &impl Serialize) -> Result<Findings> {
    let ceilings = ceilings(&Machine::read(&Roots::default()), needs);
    if bounds.insist {
        allowed(&ceilings, bounds.most)?;
    }
    let predicted = nearest(&ceilings);
    let bound = predicted.map_or(bounds.most, |(_, units)| bounds.most.min(units / 2));
    let order = Order::new(if bounds.push { bounds.most } else { bound }, own)?;
    let outcome = send_up(std::env::current_exe()?, &order)?;
    let mut found = Findings::from(outcome.measures()?);
    match predicted {
        Some((_, ceiling)) => drop(found.measures.insert("predicted".to_owned(), count(ceiling as f64))),
        None => drop(found.unavailable.insert("predicted".to_owned(), "no limit is known".to_owned())),
    }
    if outcome.error_number().is_none() {
        found.unavailable.insert("first_error".to_owned(), outcome.why_no_error(bounds, predicted));
    }
    Ok(found)
}

impl Outcome {
    /// How many were alive at once. Those that a climb added are compared with those that counted themselves.
    pub fn reached(&self) -> Result<u64> {
        use std::os::unix::process::ExitStatusExt;
        match &self.report {
            Some(Report { end: End::Enough | End::Memory, added, alive, .. }) => {
                ensure!(alive == added, "{added} were added and {alive} counted themselves");
                Ok(*alive)
            }
            // One that was being added when something said no may not have come to life.
            Some(Report { added, alive, .. }) => Ok(*added.min(alive)),
            None if self.status.signal().is_some() => Ok(self.added),
            None => match self.last_line.strip_prefix(UNAVAILABLE) {
                Some(reason) => Err(Unavailable::because(reason)),
                None => anyhow::bail!("the climb ended with {}: {}", self.status, self.last_line),
            },
        }
    }

    /// Why the climb ended, if it could say so.
    pub fn end(&self) -> Option<&End> {
        self.report.as_ref().map(|report| &report.end)
    }

    /// Whether its process was ended by a panic in the middle of it.
    pub fn is_aborted(&self) -> bool {
        !self.status.success() && !matches!(self.end(), Some(End::Refused(_) | End::Enough | End::Memory))
    }

    /// What was seen of it, by name.
    fn measures(&self) -> Result<BTreeMap<String, Measure>> {
        let mut measures = BTreeMap::new();
        let mut note = |name: &str, value| drop(measures.insert(name.to_owned(), count(value)));
        note("reached", self.reached()? as f64);
        note("enough", f64::from(self.end() == Some(&End::Enough)));
        note("refused", f64::from(matches!(self.end(), Some(End::Refused(_)))));
        note("aborted", f64::from(self.is_aborted()));
        note("kept_memory", f64::from(self.end() == Some(&End::Memory)));
        if let Some(number) = self.error_number() {
            note("first_error", f64::from(number));
        }
        if let Some(Report { before, after, added: added @ 1.., .. }) = &self.report {
            let each = |after: u64, before: u64| (after as f64 - before as f64) / *added as f64;
            note("mappings_each", each(after.mappings, before.mappings));
            note("descriptors_each", each(after.descriptors, before.descriptors));
        }
        Ok(measures)
    }

    /// Why there was no error, given how far the climb might go and which limit was predicted to bind first.
    fn why_no_error(&self, bounds: Bounds, predicted: Option<(&str, u64)>) -> String {
        match (self.end(), predicted) {
            (Some(End::Memory), _) => "it stopped while a quarter of the memory was still free".to_owned(),
            (Some(End::Enough), Some((limit, units))) if !bounds.push && units / 2 < bounds.most => {
                format!("it stopped at half of the nearest ceiling that was predicted, that of {limit}")
            }
            (Some(End::Enough), _) => "as many as were asked for are alive".to_owned(),
            (Some(_), _) => "what said no gave no number".to_owned(),
            (None, _) => format!("the climbing process ended with {}: {}", self.status, self.last_line),
        }
    }

    fn error_number(&self) -> Option<i32> {
        match self.end()? {
            End::Refused(number) | End::Aborted(number) => *number,
            End::Enough | End::Memory => None,
        }
    }
}
