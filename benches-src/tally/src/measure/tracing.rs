//! Running a program under a tool that counts.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};

use super::child::tied;
use super::counted::{self, Counted};
use super::environment::Environment;
use super::exited::ExitedProcess;
use super::session::{NO_ROOM, Outcome, Session};
use crate::book::cell::Cell;
use crate::book::count::Count;
use crate::record::Raw;
use crate::record::names::named;

impl Session<'_> {
    /// Counts outside of any round, in an environment of so many bytes more; nothing of a cell that
    /// this machine cannot run.
    pub fn count_alone(&self, count: Count, cell: &Cell, environment_bytes: usize) -> Result<Option<Outcome>> {
        fs::create_dir_all(self.project.temporary())?;
        Ok(match Environment::of(cell, &self.program(cell, None), environment_bytes)? {
            Ok(environment) => Some(self.count(count, cell, environment)?),
            Err(_) => None,
        })
    }

    /// Counts what an operation does, by a shorter and a longer run. Times under a tool that counts
    /// are no results, so none is kept.
    pub(super) fn count(&self, count: Count, cell: &Cell, environment: Environment) -> Result<Outcome> {
        let tool = match counted::tool(count) {
            Ok(tool) => tool,
            Err(reason) => return Ok(Ok(self.unavailable(cell, reason))),
        };
        let program = self.program(cell, None);
        let mut runs: Vec<(Counted, Raw, ExitedProcess)> = Vec::new();
        let both = self.experiment.laps_of(count);
        while runs.len() < both.len() {
            let laps = runs.first().map_or(both[0], |(shorter, ..)| count.longer(both, shorter.operations));
            let (exited, summary) = self.trace((count, &tool), &program, cell, laps, environment)?;
            if let Some(reason) = counted::refused(count, &exited.errors) {
                return Ok(Ok(self.unavailable(cell, reason)));
            }
            let seen = match exited.observation(&self.plan.chapter, cell) {
                Ok(seen) => seen,
                Err(failure) => return Ok(Err(failure)),
            };
            if let Some(reason) = seen.unavailable.get("elapsed") {
                return Ok(Ok(self.unavailable(cell, reason.as_str())));
            }
            match Counted::new(count, &summary, &program, &seen) {
                Ok(counted) => runs.push((counted, seen, exited)),
                Err(error) => return Ok(Err(exited.failure(format!("{error:#}")))),
            }
        }
        let [(shorter, ..), (longer, seen, exited)] = &runs[..] else { unreachable!("two runs") };
        Ok(match longer.beyond(shorter) {
            Ok(measures) => Ok(Raw {
                program: seen.program.clone(),
                parameters: seen.parameters.clone(),
                placement: seen.placement.clone(),
                measures: named(measures),
                ..Raw::default()
            }),
            Err(error) => Err(exited.failure(format!("{error:#}"))),
        })
    }

    /// Runs a program for so many laps under a tool that counts; how it exited, and the tool's
    /// summary.
    fn trace(
        &self,
        (count, tool): (Count, &Path),
        program: &Path,
        cell: &Cell,
        laps: u64,
        environment: Environment,
    ) -> Result<(ExitedProcess<'_>, String)> {
        let summary = tempfile::NamedTempFile::new_in(self.project.temporary()).context(NO_ROOM)?;
        let mut command = tied(&self.tally, tool);
        command
            .args(counted::arguments(count, summary.path()))
            .arg(program)
            .args(cell.arguments())
            .args(["--iters", &laps.to_string(), "--warmups", "0", "--json"])
            // A group of its own, since to kill the tool is not to kill what it looks at.
            .process_group(0);
        let exited = self.wait(command, environment, |child| {
            let group = Pid::from_raw(child.id().cast_signed()).expect("a process that was started");
            Ok(kill_process_group(group, Signal::KILL)?)
        })?;
        let text = fs::read(summary.path())?;
        Ok((exited, String::from_utf8_lossy(&text).into_owned()))
    }
}
