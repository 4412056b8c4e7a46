//! Whether the records that came with the checkout can be read, and are of what lies here.

use anyhow::Result;

use super::side_by_side;
use crate::book::expression::Expression;
use crate::print::view::View;
use crate::project::Machine;
use crate::record::contributed::{Contributed, Session};
use crate::record::sources::Current;
use crate::record::store::Store;

/// A record that came with the checkout, and what is asked of it.
struct Asked<'a> {
    session: &'a Session,
    index: usize,
    /// Where it is the one that pages show of its machine.
    shown: Option<Shown<'a>>,
}

struct Shown<'a> {
    current: &'a Current,
    /// The quantities that are asked of it, by name.
    named: Vec<(&'a str, Expression)>,
    must_be_fresh: bool,
}

/// Records that came with the checkout can be read, and those of the reference machine are of the listings that are shown. Second, which
/// records of other machines are not: those machines cannot be asked again whenever a listing changes, and where they are shown they say so.
/// Every number that has a name comes to its unit. Each record is forgotten once it was looked at, and all CPUs look.
pub fn check(view: &View) -> Result<(Vec<String>, Vec<String>)> {
    let current: Vec<Current> = (view.plans.experiments())
        .map(|(plan, experiment)| Current::read(&view.project, &plan.chapter, experiment))
        .collect::<Result<_>>()?;
    let machines: Vec<Machine> = view.project.machines()?.into_iter().map(Machine::Exported).collect();
    let project = &view.project;
    let stores: Vec<(Machine, Store)> = side_by_side(machines, |machine| {
        let store = Store::open(project, &machine);
        (machine, store)
    });
    let (mut wrong, mut aged, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for (machine, store) in &stores {
        let Store::Exported(own) = store else { continue };
        wrong.extend(own.unreadable.iter().chain(&own.strays).cloned());
        all.extend(asked(view, machine, store, own, &current));
    }
    let sessions: Vec<&Session> = stores.iter().flat_map(|(_, store)| store.sessions()).collect();
    wrong.extend(
        side_by_side(sessions, Session::check_bundle)
            .into_iter()
            .filter_map(Result::err)
            .map(|error| format!("{error:#}")),
    );
    for check in side_by_side(all, record) {
        wrong.extend(check.wrong);
        aged.extend(check.aged);
    }
    let root = format!("{}/", view.project.root().display());
    let without_root = |all: Vec<String>| all.into_iter().map(|words| words.replace(&root, "")).collect();
    Ok((without_root(wrong), without_root(aged)))
}

/// Every record of a machine. Of one that cannot be read, none is shown.
fn asked<'a>(
    view: &'a View,
    machine: &Machine,
    store: &'a Store,
    own: &'a Contributed,
    current: &'a [Current],
) -> Vec<Asked<'a>> {
    let must_be_fresh = view.project.reference().as_ref() == Some(machine);
    let mut all: Vec<Asked> = own.records().map(|(session, index, _)| Asked { session, index, shown: None }).collect();
    for ((plan, experiment), current) in view.plans.experiments().zip(current) {
        let Ok(Some(found)) = store.find(&plan.chapter, &experiment.name, current) else { continue };
        let named = plan.quantities.iter().filter(|own| own.experiment == experiment.name);
        // What cannot be read as one is said elsewhere.
        let named = named
            .filter_map(|own| Some((own.name.as_str(), view.plans.asked(&own.name, None).ok()?.expression)))
            .collect();
        if let Some(own) = all.iter_mut().find(|own| found.is(own.session, own.index)) {
            own.shown = Some(Shown { current, named, must_be_fresh });
        }
    }
    all
}

/// What is wrong with a record, and what is said of it if it is of older listings.
#[derive(Default)]
struct RecordCheck {
    wrong: Vec<String>,
    aged: Option<String>,
}

fn record(asked: Asked) -> RecordCheck {
    let Asked { session, index, shown } = asked;
    let place = format!("{}, {}", session.path.display(), session.digest.head.records[index].name());
    let mut check = RecordCheck::default();
    let record = match session.record(index) {
        Ok(record) => record,
        Err(error) => {
            check.wrong.push(format!("{error:#}"));
            return check;
        }
    };
    if record.header.machine.allow_listed() != record.header.machine {
        check.wrong.push(format!("{place} holds facts about the machine that are not on the allow-list"));
    }
    let Some(Shown { current, named, must_be_fresh }) = shown else { return check };
    for (name, expression) in named {
        if let Err(error) = record.evaluate(&expression) {
            check.wrong.push(format!("{place}: quantity {name}: {error:#}"));
        }
    }
    if let Some(complaint) = record.header.sources.freshness(current).complaint() {
        let complaint = format!("{place} was {complaint}");
        if must_be_fresh { check.wrong.push(complaint) } else { check.aged = Some(complaint) }
    }
    check
}
