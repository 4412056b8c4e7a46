//! `tally export`: local results become a session of a machine of the book. Only what is on the
//! allow-list goes along, and nothing private.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use walkdir::WalkDir;

use crate::book::experiment::Experiment;
use crate::book::plan::{Plan, Plans};
use crate::project::{Machine, Project, check_machine};
use crate::record::contributed::{Contributed, add};
use crate::record::copies::Copies;
use crate::record::freshness::Current;
use crate::record::known::Known;
use crate::record::private::private_names;
use crate::record::publishable::{failed, is_within, of_one_machine, refuse_private};
use crate::record::{Effort, Header, RawRecord, earlier_paths};
use crate::say;

/// Add local results to data/machines as a session, without anything private
#[derive(Args)]
pub struct Export {
    /// The machine's name: lower-case words with hyphens, such as amd-epyc-2cpu-vm
    slug: String,
    /// Names of this host or this user that are plain words, and may stand in records: of a user
    /// who is called generic, as kernels are
    #[arg(long, value_name = "NAME", env = "TALLY_NO_SECRET", value_delimiter = ',')]
    no_secret: Vec<String>,
}

/// A record that may be exported.
struct Ready {
    from: PathBuf,
    is_earlier: bool,
    record: RawRecord,
}

impl Export {
    /// Exports every complete record that is in no session yet. One in which a cell has failures
    /// alone stays here, and keeps no other from it.
    pub fn run(&self, project: &Project) -> Result<()> {
        check_machine(&self.slug)?;
        let machine = Machine::Exported(self.slug.clone());
        let plans = Plans::load(project)?;
        // All are read and checked before the first is written.
        let names = telling_names(project, &self.no_secret);
        let known = Known::load(project)?;
        let mut ready = Vec::new();
        let mut warnings = Vec::new();
        for (plan, experiment) in plans.experiments() {
            let mut of_one = prepare(project, &names, plan, experiment)?;
            of_one.retain(|one| {
                let reason = failed(&one.record, &experiment.command());
                warnings.extend(reason.iter().map(|reason| format!("{} is left out: {reason}", one.from.display())));
                reason.is_none()
            });
            for one in of_one.iter().filter(|one| !one.is_earlier) {
                warnings.extend(staleness(&Current::read(plan, experiment, &known), experiment, one));
                warnings.extend(deaths(one));
            }
            ready.extend(of_one);
        }
        if ready.is_empty() {
            let none = "there are no local records to export; run: cargo tally measure --effort full";
            bail!("{}", warnings.iter().fold(none.to_owned(), |said, warning| format!("{said}\n  {warning}")));
        }
        let places: Vec<_> = ready.iter().map(|one| (one.from.display().to_string(), &one.record)).collect();
        let folder = project.data(&machine);
        of_one_machine(&places, &folder)?;
        let copies = Copies::of(project)?;
        for one in &ready {
            let checked = copies.check(&one.from, [&one.record.header].into_iter(), &folder);
            checked.with_context(|| one.from.display().to_string())?;
        }
        let written = add(project, &machine, ready.into_iter().map(|one| one.record).collect())?;
        for path in &written {
            say!("tally: wrote {}", path.display());
        }
        if written.is_empty() {
            say!("tally: every local record is in a session of {} already; nothing was exported", self.slug);
        }
        warnings.extend(left_over(&plans, &Contributed::of(project, &machine)));
        for warning in warnings {
            say!("tally: warning: {warning}");
        }
        Ok(())
    }
}

/// A local record and the earlier sessions of the same, as they would be exported: in the format of
/// today and without what is not on the allow-list.
fn prepare(project: &Project, names: &[String], plan: &Plan, experiment: &Experiment) -> Result<Vec<Ready>> {
    let own = project.local_record(&plan.chapter, &experiment.name);
    let Some(record) = RawRecord::load(&own)? else { return Ok(Vec::new()) };
    ensure!(record.header.effort != Effort::Test, "{} is of a test run, whose figures are no results", own.display());
    let mut all = Vec::new();
    for from in earlier_paths(&own)? {
        let earlier = RawRecord::load(&from)?.filter(|own| own.header.is_another_session_of(&record.header));
        all.extend(earlier.map(|earlier| (from, true, earlier)));
    }
    all.push((own, false, record));
    let ready = |(from, is_earlier, mut record): (PathBuf, bool, RawRecord)| {
        record.header.machine = record.header.machine.allow_listed();
        refuse_private(&record, project.root(), names)
            .with_context(|| format!("{} is not exported", from.display()))?;
        Ok(Ready { from, is_earlier, record })
    };
    all.into_iter().map(ready).collect()
}

/// What is said of a record that is not of the listings that lie here.
fn staleness(current: &Current, experiment: &Experiment, ready: &Ready) -> Option<String> {
    let complaint = current.freshness(&ready.record.header).complaint();
    complaint.map(|complaint| format!("{} was {complaint}; run: {}", ready.from.display(), experiment.command()))
}

/// What is said of a record that some processes have left no number in. Its pages say so too.
fn deaths(ready: &Ready) -> Option<String> {
    let all: Vec<usize> = (0..ready.record.header.cells.len()).collect();
    Some(format!("{}: {}", ready.from.display(), ready.record.lost(&all)?.words()))
}

/// What a machine's folder has that is of no experiment of any plan.
fn left_over(plans: &Plans, there: &Contributed) -> Vec<String> {
    let is_planned = |header: &Header| {
        plans.experiments().any(|(plan, own)| plan.chapter == header.chapter && own.name == header.experiment)
    };
    let left_over = there.records().filter(|(.., header)| !is_planned(header)).map(|(session, _, header)| {
        let (path, chapter, experiment) = (session.path.display(), &header.chapter, &header.experiment);
        format!("{path}: {chapter}/{experiment} is of no experiment of any plan any more")
    });
    left_over.collect()
}

/// The names of this host and this user, but for those that are words of the programs or of what
/// they stand on: none of these gives them away. Which others are no secrets, whoever exports says.
fn telling_names(project: &Project, no_secret: &[String]) -> Vec<String> {
    let own = own_words(project);
    private_names().into_iter().filter(|name| !own.contains(name) && !no_secret.contains(name)).collect()
}

fn own_words(project: &Project) -> BTreeSet<String> {
    let files =
        WalkDir::new(project.benches()).into_iter().filter_entry(|entry| entry.file_name() != "tally").flatten();
    let sources = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "rs"));
    let texts = sources.filter_map(|file| fs::read_to_string(file.path()).ok());
    let words = |text: String| text.split(|sign: char| !is_within(sign)).map(str::to_owned).collect::<Vec<_>>();
    texts.flat_map(words).collect()
}
