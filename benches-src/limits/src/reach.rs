//! The entry of programs that say how many units can be alive at once.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek};
use std::marker::PhantomData;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;
use harness::{Once, Placement};
use observation::Measure;
use serde::{Deserialize, Serialize};

use crate::ceilings::{allowed, ceilings, nearest};
use crate::climb::{Crowd, End, Ledger, Order, Report, climb};
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

/// A climb in a child process.
pub struct Reach<C: Crowd> {
    order: Order,
    bounds: Bounds,
    /// The limit that was predicted to bind first, and at how many.
    predicted: Option<(&'static str, u64)>,
    unavailable: BTreeMap<String, String>,
    crowd: PhantomData<C>,
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

/// The whole of a program's `main`: the climb itself where it was sent by another process of the same program.
pub fn reach<C: Crowd>(name: &str) -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match &arguments[..] {
        [_, word, order] if word == CLIMB => match climbing::<C>(order) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error:#}");
                ExitCode::FAILURE
            }
        },
        _ => harness::once::<Reach<C>>(name),
    }
}

fn climbing<C: Crowd>(order: &str) -> Result<()> {
    use std::os::fd::AsFd;
    let order = serde_json::from_str(order).context("the order of a climb cannot be read")?;
    let ledger = std::io::stdout().as_fd().try_clone_to_owned()?;
    climb::<C>(&order, Ledger::new(File::from(ledger)))
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

impl<C: Crowd> Once for Reach<C> {
    type Parameters = Asked<C::Parameters>;

    fn set_up(parameters: &Self::Parameters, _: Placement) -> Result<Self> {
        let Asked { bounds, own } = parameters;
        let ceilings = ceilings(&Machine::read(&Roots::default()), &C::needs(own));
        if bounds.insist {
            allowed(&ceilings, bounds.most)?;
        }
        let predicted = nearest(&ceilings);
        let bound = predicted.map_or(bounds.most, |(_, units)| bounds.most.min(units / 2));
        let order = Order::new(if bounds.push { bounds.most } else { bound }, own)?;
        Ok(Self { order, bounds: *bounds, predicted, unavailable: BTreeMap::new(), crowd: PhantomData })
    }

    fn measure(&mut self) -> Result<BTreeMap<String, Measure>> {
        let outcome = send_up(std::env::current_exe()?, &self.order)?;
        let mut measures = BTreeMap::new();
        let mut note = |name: &str, measure| drop(measures.insert(name.to_owned(), measure));
        note("reached", count(outcome.reached()? as f64));
        note("enough", count(f64::from(outcome.end() == Some(&End::Enough))));
        note("refused", count(f64::from(matches!(outcome.end(), Some(End::Refused(_))))));
        note("aborted", count(f64::from(outcome.is_aborted())));
        note("kept_memory", count(f64::from(outcome.end() == Some(&End::Memory))));
        match self.predicted {
            Some((_, ceiling)) => note("predicted", count(ceiling as f64)),
            None => drop(self.unavailable.insert("predicted".to_owned(), "no limit is known".to_owned())),
        }
        match outcome.error_number() {
            Some(number) => note("first_error", count(f64::from(number))),
            None => drop(self.unavailable.insert("first_error".to_owned(), self.why(&outcome))),
        }
        if let Some(Report { before, after, added: added @ 1.., .. }) = &outcome.report {
            let each = |after: u64, before: u64| (after as f64 - before as f64) / *added as f64;
            note("mappings_each", count(each(after.mappings, before.mappings)));
            note("descriptors_each", count(each(after.descriptors, before.descriptors)));
        }
        Ok(measures)
    }

    fn unavailable(&self) -> BTreeMap<String, String> {
        self.unavailable.clone()
    }
}

impl<C: Crowd> Reach<C> {
    /// Why there was no error.
    fn why(&self, outcome: &Outcome) -> String {
        match (outcome.end(), self.predicted) {
            (Some(End::Memory), _) => "it stopped while a quarter of the memory was still free".to_owned(),
            (Some(End::Enough), Some((limit, units))) if !self.bounds.push && units / 2 < self.bounds.most => {
                format!("it stopped at half of the nearest ceiling that was predicted, that of {limit}")
            }
            (Some(End::Enough), _) => "as many as were asked for are alive".to_owned(),
            (Some(_), _) => "what said no gave no number".to_owned(),
            (None, _) => format!("the climbing process ended with {}: {}", outcome.status, outcome.last_line),
        }
    }
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
            None => anyhow::bail!("the climb ended with {}: {}", self.status, self.last_line),
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

    fn error_number(&self) -> Option<i32> {
        match self.end()? {
            End::Refused(number) | End::Aborted(number) => *number,
            End::Enough | End::Memory => None,
        }
    }
}
