//! What printing looks at: the plans, one machine's records, and how both relate. Opens only the
//! records it needs.

mod machines;
mod numbers;
mod records;
mod ways;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::Result;

use crate::book::answer::State;
use crate::book::experiment::Experiment;
use crate::book::places::Places;
use crate::book::plan::{Plan, Plans};
use crate::book::published::Published;
use crate::book::takeaways::Front;
use crate::book::verdict::Verdict;
use crate::compute::between::Between;
use crate::compute::doubts::Mark;
use crate::compute::quantity::{Measured, Missing};
use crate::compute::sessions::Sessions;
use crate::print::calculator::Calculator;
use crate::print::charts::Pencil;
use crate::project::{Machine, Project};
use crate::record::Header;
use crate::record::freshness::{Current, Freshness};
use crate::record::known::Known;
use crate::record::machine::Facts;
use crate::record::store::{Found, Store};
use crate::remembered::remembered;

pub use records::Kept;
use records::Records;

/// Everything that a printing verb needs: the book, the records of a machine, and where what is
/// printed goes. Clones share what they have read.
#[derive(Clone)]
pub struct View {
    book: Rc<Book>,
    pub machine: Machine,
    /// The page that is being printed, if it is one: its path from the book's source on.
    pub page: Option<String>,
    pub output: Rc<Output>,
    read: Rc<Read>,
}

/// What was asked, all of which is read at once.
pub struct Book {
    pub project: Project,
    pub plans: Plans,
    pub published: Published,
    /// Findings and figures that compare.
    pub front: Front,
    /// Where on its pages everything stands.
    pub places: Places,
}

impl Deref for View {
    type Target = Book;

    fn deref(&self) -> &Book {
        &self.book
    }
}

/// What comes of printing besides text.
#[derive(Default)]
pub struct Output {
    pub pencil: Pencil,
    /// The files for download that were written since somebody looked.
    pub written: RefCell<Vec<String>>,
    /// Whether a picture could not be drawn since somebody looked: another time it may be.
    pub undrawn: Cell<bool>,
}

/// What was read once and is looked at again.
struct Read {
    between: Rc<Between>,
    /// What decides how fresh records are.
    known: Arc<Known>,
    stores: RefCell<HashMap<String, Rc<Store>>>,
    records: RefCell<Records>,
    /// What numbers came to: in which way they were asked for, of which machine, and what was
    /// asked.
    measured: RefCell<HashMap<(&'static str, String, String), Measured>>,
    /// What headlines came to in each session, of which machine and experiment.
    headlines: RefCell<HashMap<(String, String), Vec<f64>>>,
    /// What stands beside numbers, of which machine.
    marks: RefCell<HashMap<(String, String), Vec<Mark>>>,
    /// How the calculator answers: with which machine's numbers, whether that is the one that is
    /// shown, and which case.
    answers: RefCell<HashMap<(String, bool, String), Option<State>>>,
    /// What lies here now, by experiment.
    current: RefCell<HashMap<String, Rc<Current>>>,
    /// What tells this machine from others.
    identity: OnceCell<Facts>,
    calculator: OnceCell<Rc<Calculator>>,
    twins: OnceCell<Vec<Machine>>,
    /// The machines that came with the checkout.
    exported: OnceCell<Vec<Machine>>,
    /// What machines say of claims: which is shown, which one says it, of which claim.
    verdicts: RefCell<HashMap<(String, String, String), Verdict>>,
}

impl View {
    /// Reads plans and published figures; no record yet.
    pub fn new(project: Project, machine: Machine, page: Option<String>) -> Result<Self> {
        let read = Read {
            between: Rc::new(Between::load(&project)?),
            known: Known::load(&project)?,
            stores: RefCell::default(),
            records: Records::of(machine.clone()).into(),
            measured: RefCell::default(),
            headlines: RefCell::default(),
            marks: RefCell::default(),
            answers: RefCell::default(),
            current: RefCell::default(),
            identity: OnceCell::new(),
            calculator: OnceCell::new(),
            twins: OnceCell::new(),
            exported: OnceCell::new(),
            verdicts: RefCell::default(),
        };
        let (plans, published) = (Plans::load(&project)?, Published::load(&project)?);
        let (front, places) = (Front::load(&project)?, Places::load(&project)?);
        let book = Rc::new(Book { project, plans, published, front, places });
        Ok(Self { book, machine, page, output: Rc::default(), read: Rc::new(read) })
    }

    /// Forgets all records, but not the numbers to which they came: for one who looks at all of a
    /// machine's, and has done with most.
    pub fn forget_records(&self) {
        let mut records = self.read.records.borrow_mut();
        *records = Records::of(records.home.clone());
    }

    /// How far sessions of one machine differ.
    pub fn between(&self) -> &Between {
        &self.read.between
    }

    /// What decides how fresh records are.
    pub fn known(&self) -> &Arc<Known> {
        &self.read.known
    }

    /// The same for another page, which may be another machine's.
    pub fn of_page(&self, page: &str, stand_in: Option<Machine>) -> Self {
        let machine = stand_in.unwrap_or_else(|| self.machine.clone());
        Self { page: Some(page.to_owned()), machine, ..self.clone() }
    }

    /// The experiments that are at home on a page.
    pub fn at_home(&self, page: &str) -> Vec<(&Plan, &Experiment)> {
        let is_at_home = |experiment: &Experiment| self.places.home(&experiment.name) == Some(page);
        self.plans.experiments().filter(|(_, experiment)| is_at_home(experiment)).collect()
    }

    /// The machine that is shown wherever it has numbers, if this page is another's.
    pub fn stands_in_for(&self) -> Option<Machine> {
        Some(self.read.records.borrow().home.clone()).filter(|shown| *shown != self.machine)
    }

    /// Whether a page's first line speaks for all numbers of an experiment: it is at home on this
    /// page, which is another machine's.
    pub fn is_said_above(&self, experiment: &Experiment) -> bool {
        self.stands_in_for().is_some() && self.places.home(&experiment.name) == self.page.as_deref()
    }

    /// The same of another machine.
    pub fn of_machine(&self, machine: Machine) -> Self {
        Self { machine, ..self.clone() }
    }

    /// The record of an experiment on the machine that is shown.
    pub fn kept(&self, plan: &Plan, experiment: &Experiment) -> Result<Rc<Kept>> {
        self.kept_on(&self.machine, plan, experiment)
    }

    /// The record of an experiment on another machine.
    pub fn kept_on(&self, machine: &Machine, plan: &Plan, experiment: &Experiment) -> Result<Rc<Kept>> {
        let key = records::key(machine, experiment);
        if let Some(known) = self.read.records.borrow_mut().get(&key) {
            return Ok(known);
        }
        let kept = Rc::new(self.load(machine, plan, experiment)?);
        self.read.records.borrow_mut().put(machine, key, kept.clone());
        Ok(kept)
    }

    /// Whether the record of an experiment on the machine that is shown is in memory.
    pub fn is_kept(&self, experiment: &Experiment) -> bool {
        self.read.records.borrow().has(&records::key(&self.machine, experiment))
    }

    /// What was measured and where, without the measurements: the header of a record and how fresh
    /// it is. `None` where there is none that can be read.
    pub fn header_on(
        &self,
        machine: &Machine,
        plan: &Plan,
        experiment: &Experiment,
    ) -> Result<Option<(Arc<Header>, Freshness)>> {
        let current = self.current(plan, experiment)?;
        let store = self.store(machine);
        let Ok(Some(found)) = store.find(&plan.chapter, &experiment.name, &current) else { return Ok(None) };
        let freshness = self.freshness(machine, &found);
        Ok(Some((found.header, freshness)))
    }

    /// The calculator, read once.
    pub fn calculator(&self) -> Result<Rc<Calculator>> {
        if let Some(known) = self.read.calculator.get() {
            return Ok(known.clone());
        }
        let loaded = Rc::new(Calculator::load(&self.project)?);
        Ok(self.read.calculator.get_or_init(|| loaded).clone())
    }

    /// A machine's records, opened once.
    pub fn store(&self, machine: &Machine) -> Rc<Store> {
        let mut stores = self.read.stores.borrow_mut();
        let open = || Rc::new(Store::open(&self.project, machine));
        stores.entry(machine.slug().to_owned()).or_insert_with(open).clone()
    }

    /// Does something with the record of an experiment on the machine that is shown, as it is kept;
    /// nothing where there is none.
    pub fn with_found<T>(
        &self,
        plan: &Plan,
        experiment: &Experiment,
        look: impl FnOnce(&Found) -> Result<T>,
    ) -> Result<Option<T>> {
        let current = self.current(plan, experiment)?;
        let store = self.store(&self.machine);
        store.find(&plan.chapter, &experiment.name, &current)?.map(|found| look(&found)).transpose()
    }

    /// What stands above a machine's records.
    pub fn headers(&self, machine: &Machine) -> Result<Vec<(&Plan, &Experiment, Arc<Header>)>> {
        let mut headers = Vec::new();
        for (plan, experiment) in self.plans.experiments() {
            let header = self.header_on(machine, plan, experiment)?;
            headers.extend(header.map(|(header, _)| (plan, experiment, header)));
        }
        Ok(headers)
    }

    /// What is known of a machine that has records.
    pub fn facts(&self, machine: &Machine) -> Result<Option<Facts>> {
        Ok(newest(&self.headers(machine)?).map(|(_, _, header)| header.machine.clone()))
    }

    /// What stands behind the name of the reference machine, and of no other.
    pub fn reference_mark(&self, machine: &Machine) -> &'static str {
        if self.project.reference().as_ref() == Some(machine) { " (reference)" } else { "" }
    }

    fn load(&self, machine: &Machine, plan: &Plan, experiment: &Experiment) -> Result<Kept> {
        let current = self.current(plan, experiment)?;
        let store = self.store(machine);
        let read = || -> Result<Option<(Sessions, Freshness)>> {
            let Some(found) = store.find(&plan.chapter, &experiment.name, &current)? else { return Ok(None) };
            let Some(record) = found.load()? else { return Ok(None) };
            let sessions = Sessions::new(record, found.others()?, self.read.between.clone());
            Ok(Some((sessions, self.freshness(machine, &found))))
        };
        Ok(match read() {
            Ok(Some(kept)) => Ok(kept),
            Ok(None) => Err(self.not_measured(machine, plan, experiment)?),
            Err(error) => {
                let Missing { word, reason } = self.unreadable(&error);
                let cure = format!(". Run: {}", experiment.command());
                Err(Missing::new(word, reason + if *machine == Machine::Local { &cure } else { "" }))
            }
        })
    }

    /// Why something is not printed that cannot be read. The path within the checkout is enough for
    /// a page; where the checkout lies is nobody's business.
    pub fn unreadable(&self, error: &anyhow::Error) -> Missing {
        let root = format!("{}/", self.project.root().display());
        Missing::new("unreadable", format!("{error:#}").replace(&root, ""))
    }

    /// Why there is no record, and how to come by one.
    fn not_measured(&self, machine: &Machine, plan: &Plan, experiment: &Experiment) -> Result<Missing> {
        let measure = experiment.command();
        let reason = match machine {
            Machine::Local if experiment.is_full_only() => {
                return Ok(Missing::new("full only", format!("run: {measure}")));
            }
            Machine::Local if experiment.push => {
                format!(
                    "because it pushes this machine to a limit, which a build does only when asked to; run: {measure}"
                )
            }
            Machine::Local => format!("run: {measure}"),
            Machine::Exported(slug) | Machine::Session(slug) => {
                format!("machine {slug} has no record of {}{}", experiment.name, self.elsewhere(plan, experiment)?)
            }
        };
        Ok(Missing::new("not measured", reason))
    }

    /// Which machines do have a record that the shown one lacks, and how to see it: no number of
    /// theirs stands in its place.
    fn elsewhere(&self, plan: &Plan, experiment: &Experiment) -> Result<String> {
        let has = |machine: &&Machine| self.store(machine).has(&plan.chapter, &experiment.name);
        Ok(match self.exported()?.iter().find(has).map(Machine::slug) {
            None => format!("; to measure it on yours: {}", experiment.command()),
            Some(first) => format!("; {first} has one, which show = \"{first}\" in book.toml puts on the pages"),
        })
    }

    /// The listings whose text is another one than that of what ran for a record, though it speaks
    /// of them.
    pub fn other_text(&self, plan: &Plan, experiment: &Experiment, header: &Header) -> Result<BTreeSet<String>> {
        Ok(self.current(plan, experiment)?.other_text(header))
    }

    fn freshness(&self, machine: &Machine, found: &Found) -> Freshness {
        let freshness = found.freshness();
        if *machine == Machine::Local && freshness == Freshness::Fresh {
            let differences = found.header.machine.differences(self.read.identity.get_or_init(Facts::read_identity));
            if !differences.is_empty() {
                return Freshness::Older(differences.into_iter().map(|fact| format!("{fact} changed")).collect());
            }
        }
        freshness
    }

    fn current(&self, plan: &Plan, experiment: &Experiment) -> Result<Rc<Current>> {
        let read = || Ok(Rc::new(Current::read(plan, experiment, &self.read.known)));
        remembered(&self.read.current, experiment.name.clone(), read)
    }
}

/// Any record of a machine tells what machine it is; the newest does so best.
pub fn newest<'a, 'b>(
    headers: &'b [(&'a Plan, &'a Experiment, Arc<Header>)],
) -> Option<&'b (&'a Plan, &'a Experiment, Arc<Header>)> {
    headers.iter().max_by_key(|(_, _, header)| &header.before.time)
}
