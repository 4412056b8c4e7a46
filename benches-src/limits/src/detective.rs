//! Which limit said no? Its error does not tell: four limits give the same number. So whoever was nearest is accused, then the
//! accused alone is moved, and it is named only if the ceiling follows.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use harness::{Described, Findings, described};

use crate::climb::{End, OWN_REFUSALS, Order, Report, Used};
use crate::count;
use crate::guardian::{Guardian, Undo};
use crate::machine::{Group, Machine};
use crate::reach::send_up;

/// How far the accused is moved down.
const DOWN: f64 = 0.8;
/// And up, where another limit is so near that both would follow it down.
const UP: f64 = 1.2;
/// How exactly a ceiling follows, and how near a limit must be to be accused.
const WITHIN: f64 = 0.02;

/// A limit that may have said no.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// What it is called in measures.
    pub limit: &'static str,
    /// Where it stands, if it is a group's.
    pub group: Option<Group>,
    /// Its value.
    pub value: u64,
    /// What was used of it before, and what when something said no.
    pub used: (u64, u64),
    /// How many units it would allow if they all take what these took.
    pub allows: f64,
    /// Whether it counts its refusals, and counted some meanwhile.
    pub refused: bool,
}

/// What the detective found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Finding {
    /// How many were alive when something said no.
    pub reached: u64,
    /// The limit whose move moved the ceiling.
    pub named: Option<&'static str>,
    /// How many when the accused was moved, how many were then expected, and the factor by which it was moved.
    pub moved: Option<(u64, f64, f64)>,
    /// Why no limit is named.
    pub undecided: Option<String>,
    /// The largest id among the threads that were alive. Once ids have wrapped around, it says little about how many are left.
    pub largest_id: Option<u64>,
    /// Everybody who may have said no, the nearest first.
    pub suspects: Vec<Suspect>,
}

/// Pushes a program of this chapter to its ceiling, twice or more.
pub struct Detective {
    /// The program that climbs.
    pub climber: PathBuf,
    /// This program, which is also its own guardian.
    pub guardian: PathBuf,
    /// What the climber is told, before anything is moved.
    pub order: Order,
}

/// Everybody who may have said no, the nearest first.
pub fn suspects(machine: &Machine, order: &Order, report: &Report) -> Vec<Suspect> {
    let Report { before, after, .. } = report;
    let reached = report.added.min(report.alive);
    let suspect = |limit, value: Option<u64>, group: Option<Group>, used: (u64, u64)| {
        let taken = used.1.checked_sub(used.0).filter(|taken| *taken > 0 && reached > 0)?;
        let value = value?;
        let allows = reached as f64 * (value as f64 - used.0 as f64) / taken as f64;
        Some(Suspect { limit, group, value, used, allows, refused: false })
    };
    let both = |of: fn(&Used) -> u64| (of(before), of(after));
    let nofile = order.nofile.or(machine.nofile_hard.known());
    let nproc = order.nproc.or(machine.nproc_soft.known()).filter(|_| !machine.nproc_exempt);
    let mut all = vec![
        suspect("max_map_count", machine.max_map_count.known(), None, both(|used| used.mappings)),
        suspect("pid_max", machine.pid_max.known(), None, both(|used| used.tasks + used.ids_reserved)),
        suspect("threads_max", machine.threads_max.known(), None, both(|used| used.tasks)),
        suspect("nproc", nproc, None, both(|used| used.tasks)),
        suspect("nofile", nofile, None, both(|used| used.descriptors)),
    ];
    let mut somewhere_above = false;
    for (index, group) in machine.pids.iter().flatten().enumerate() {
        let used = |of: &Used| of.in_groups.get(index).copied().unwrap_or(0);
        let refusals = |of: &Used| of.refused_by_groups.get(index).copied().unwrap_or(0);
        let counted = refusals(after) > refusals(before);
        let refused = counted && group.folder.join(OWN_REFUSALS).is_file();
        somewhere_above |= counted && !refused;
        let of_group = suspect("pids_max", group.max.known(), Some(group.clone()), (used(before), used(after)));
        all.push(of_group.map(|suspect| Suspect { refused, ..suspect }));
    }
    let mut all: Vec<Suspect> = all.into_iter().flatten().collect();
    all.sort_by(|a, b| a.allows.total_cmp(&b.allows));
    // Where a group only says that somebody in it was refused, it was the group on the way to the root that left least.
    let nearest = all.iter_mut().find(|suspect| somewhere_above && suspect.limit == "pids_max");
    nearest.into_iter().for_each(|suspect| suspect.refused = true);
    all
}

impl Finding {
    fn undecided(mut self, reason: impl Into<String>) -> Self {
        self.undecided = Some(reason.into());
        self
    }

    /// What may be told of one.
    pub const MEASURES: [Described; 8] = [
        described("reached", "1", "how many were alive when something said no"),
        described("decided", "1", "1 if a limit is named, else 0"),
        described("named_*", "1", "1 if it is this limit whose move moved the ceiling, else 0"),
        described("share_of_*", "1", "how much of this limit was used when something said no, as a share of it"),
        described("moved_by", "1", "the factor by which the accused limit was moved"),
        described("reached_after", "1", "how many were alive when something said no once more, after that move"),
        described("expected_after", "1", "how many were to be expected then, if that limit was the one"),
        described("largest_id", "1", "the largest id among the threads that were alive"),
    ];

    /// The finding by name of measure, and what of it could not be had.
    pub fn told(&self) -> Findings {
        const LIMITS: [&str; 6] = ["max_map_count", "pid_max", "threads_max", "nproc", "nofile", "pids_max"];
        let mut told = Findings::default();
        let mut note = |name: &str, value: Result<f64, &str>| match value {
            Ok(value) => drop(told.measures.insert(name.to_owned(), count(value))),
            Err(reason) => drop(told.unavailable.insert(name.to_owned(), reason.to_owned())),
        };
        note("reached", Ok(self.reached as f64));
        note("decided", Ok(f64::from(self.named.is_some())));
        if let Some(id) = self.largest_id {
            note("largest_id", Ok(id as f64));
        }
        for limit in LIMITS {
            note(&format!("named_{limit}"), Ok(f64::from(self.named == Some(limit))));
            let suspect = self.suspects.iter().find(|suspect| suspect.limit == limit);
            let share = suspect.map(|suspect| suspect.used.1 as f64 / suspect.value as f64);
            note(&format!("share_of_{limit}"), share.ok_or("it does not concern this unit here"));
        }
        let why = self.undecided.as_deref().unwrap_or_default();
        note("moved_by", self.moved.map(|(_, _, by)| by).ok_or(why));
        note("reached_after", self.moved.map(|(reached, ..)| reached as f64).ok_or(why));
        note("expected_after", self.moved.map(|(_, expected, _)| expected).ok_or(why));
        if self.named.is_none() {
            note("named", Err(&format!("not decided: {why}")));
        }
        told
    }
}

impl Detective {
    /// Pushes, accuses, moves the accused, pushes again.
    pub fn investigate(&self) -> Result<Finding> {
        let machine = Machine::read(&self.order.roots);
        let first = send_up(&self.climber, &self.order)?;
        let mut finding = Finding { reached: first.reached()?, ..Finding::default() };
        let report = match &first.report {
            Some(report) if matches!(report.end, End::Refused(_) | End::Aborted(_)) => report,
            Some(Report { end: End::Memory, .. }) => {
                return Ok(finding.undecided("memory ran short first, and a quarter of it is kept free"));
            }
            Some(_) => return Ok(finding.undecided("nothing said no before as many as were asked for were alive")),
            None => {
                return Ok(finding.undecided(format!("the climb ended with {} and could not say more", first.status)));
            }
        };
        finding.largest_id = Some(report.after.largest_id);
        finding.suspects = suspects(&machine, &self.order, report);
        if let Some(moved) = changed(&machine, &Machine::read(&self.order.roots)) {
            return Ok(finding.undecided(format!("{moved} was moved by somebody else meanwhile")));
        }
        let near = |suspect: &&Suspect| suspect.allows <= finding.reached as f64 * (1.0 + WITHIN);
        // A group that counts what it refuses is a witness against itself.
        let witnesses: Vec<Suspect> = finding.suspects.iter().filter(|suspect| suspect.refused).cloned().collect();
        let near: Vec<Suspect> = finding.suspects.iter().filter(near).cloned().collect();
        let accused = if witnesses.is_empty() { near } else { witnesses };
        match &accused[..] {
            [] => Ok(finding.undecided("no limit that this program knows was near")),
            [one] => self.lower(one, finding),
            several => self.raise_each(several, finding),
        }
    }

    /// The ceiling must come down to where the accused then stands, and no lower.
    fn lower(&self, accused: &Suspect, mut finding: Finding) -> Result<Finding> {
        let expected = expected(accused, DOWN, finding.reached);
        let reached = match self.push_with(accused, DOWN) {
            Ok(reached) => reached,
            Err(error) => return Ok(finding.undecided(format!("{} could not be moved: {error:#}", accused.limit))),
        };
        finding.moved = Some((reached, expected, DOWN));
        if (reached as f64 / expected - 1.0).abs() <= WITHIN {
            finding.named = Some(accused.limit);
            return Ok(finding);
        }
        let limit = accused.limit;
        Ok(finding.undecided(format!(
            "{limit} was moved, and the ceiling did not follow: {reached} instead of {expected:.0}"
        )))
    }

    /// Moved down, each of several that are near would bind. Moved up, only the one that does bind lets the ceiling rise.
    fn raise_each(&self, accused: &[Suspect], mut finding: Finding) -> Result<Finding> {
        // More than the count differs from one push to the next.
        const RISEN: f64 = 1.002;
        let mut seen = Vec::new();
        for (index, suspect) in accused.iter().enumerate() {
            let others = accused.iter().enumerate().filter(|(other, _)| *other != index);
            let next = others.map(|(_, other)| other.allows).fold(f64::INFINITY, f64::min);
            let expected = expected(suspect, UP, finding.reached).min(next);
            let reached = match self.push_with(suspect, UP) {
                Ok(reached) => reached,
                Err(error) => {
                    seen.push(format!("{} could not be moved: {error:#}", suspect.limit));
                    continue;
                }
            };
            finding.moved = Some((reached, expected, UP));
            if reached as f64 > finding.reached as f64 * RISEN {
                finding.named = Some(suspect.limit);
                return Ok(finding);
            }
            seen.push(format!("{} was raised alone, and {reached} were reached", suspect.limit));
        }
        Ok(finding.undecided(format!("several limits coincide: {}", seen.join("; "))))
    }

    /// Pushes again while the accused alone stands elsewhere.
    fn push_with(&self, accused: &Suspect, factor: f64) -> Result<u64> {
        let value = (accused.value as f64 * factor) as u64;
        let mut order = self.order.clone();
        let guardian = match accused.limit {
            "nofile" => {
                order.nofile = Some(value);
                None
            }
            "nproc" => {
                order.nproc = Some(value);
                None
            }
            "pids_max" => {
                let own = accused.group.as_ref().map(|group| group.folder.clone()).context("a group's limit")?;
                let fresh = own.join(format!("limits-detective-{}", std::process::id()));
                // In a group of its own, the climb has everything that is allowed but what the others use now.
                let others = accused.used.0;
                let guardian = self.make_group(&fresh, value.saturating_sub(others))?;
                order.group = Some(fresh);
                Some(guardian)
            }
            name => Some(self.move_sysctl(name, accused.value, value)?),
        };
        let outcome = send_up(&self.climber, &order)?;
        if let Some(guardian) = guardian {
            guardian.dismiss()?;
        }
        outcome.reached()
    }

    fn make_group(&self, folder: &Path, max: u64) -> Result<Guardian> {
        let guardian = Guardian::post(&self.guardian, &Undo::RemoveGroup(folder.to_owned()))?;
        fs::create_dir(folder).context("no control group can be made here")?;
        fs::write(folder.join("pids.max"), max.to_string()).context("a fresh control group takes no pids.max")?;
        Ok(guardian)
    }

    fn move_sysctl(&self, name: &str, old: u64, new: u64) -> Result<Guardian> {
        let file = match name {
            "max_map_count" => "sys/vm/max_map_count",
            "pid_max" => "sys/kernel/pid_max",
            _ => "sys/kernel/threads-max",
        };
        let path = self.order.roots.proc.join(file);
        let undo = Undo::Write { path: path.clone(), old: old.to_string(), new: new.to_string() };
        let guardian = Guardian::post(&self.guardian, &undo)?;
        fs::write(&path, new.to_string())
            .with_context(|| format!("/proc/{file} takes no other value; that needs root"))?;
        Ok(guardian)
    }
}

/// How many units the accused allows once it is moved, going by those that it stopped.
fn expected(accused: &Suspect, factor: f64, reached: u64) -> f64 {
    let (before, after) = (accused.used.0 as f64, accused.used.1 as f64);
    reached as f64 * (accused.value as f64 * factor - before) / (after - before)
}

/// A limit that is not what it was.
fn changed(before: &Machine, after: &Machine) -> Option<&'static str> {
    let groups = |machine: &Machine| -> Vec<_> {
        machine.pids.iter().flatten().map(|group| (group.level, group.max.clone())).collect()
    };
    let pairs = [
        ("max_map_count", before.max_map_count != after.max_map_count),
        ("pid_max", before.pid_max != after.pid_max),
        ("threads_max", before.threads_max != after.threads_max),
        ("nproc", before.nproc_soft != after.nproc_soft),
        ("nofile", before.nofile_hard != after.nofile_hard),
        ("pids_max", groups(before) != groups(after)),
    ];
    pairs.into_iter().find_map(|(name, differs)| differs.then_some(name))
}
