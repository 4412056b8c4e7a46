//! Records in memory: all of one machine, and of others those that were looked at last.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use crate::book::experiment::Experiment;
use crate::compute::quantity::Missing;
use crate::compute::sessions::Sessions;
use crate::project::Machine;
use crate::record::freshness::Freshness;

/// What is kept of an experiment on a machine: a record and how fresh it is, or why there is none.
pub type Kept = Result<(Sessions, Freshness), Missing>;

/// What is kept in memory.
pub struct Records {
    /// The machine whose records are kept.
    pub home: Machine,
    kept: HashMap<Key, Rc<Kept>>,
    /// Of other machines, in the order in which they were looked at.
    others: VecDeque<(Key, Rc<Kept>)>,
    /// Of other machines, those that were looked at and are not kept.
    forgotten: HashSet<Key>,
}

/// A machine's word and an experiment.
pub type Key = (String, String);

pub fn key(machine: &Machine, experiment: &Experiment) -> Key {
    (machine.slug().to_owned(), experiment.name.clone())
}

/// So many processes of other machines are kept: there may be hundreds of machines, and a process
/// takes some 3 KB.
const MOST_OF_OTHERS: usize = 30_000;

impl Records {
    /// None yet, of a book that shows this machine.
    pub fn of(home: Machine) -> Self {
        Self { home, kept: HashMap::new(), others: VecDeque::new(), forgotten: HashSet::new() }
    }

    /// Whether it was looked at, and has to be read anew.
    pub fn is_forgotten(&self, key: &Key) -> bool {
        self.forgotten.contains(key)
    }

    pub fn get(&mut self, key: &Key) -> Option<Rc<Kept>> {
        if let Some(kept) = self.kept.get(key) {
            return Some(kept.clone());
        }
        let at = self.others.iter().position(|(own, ..)| own == key)?;
        let found = self.others.remove(at)?;
        let kept = found.1.clone();
        self.others.push_back(found);
        Some(kept)
    }

    pub fn put(&mut self, machine: &Machine, key: Key, kept: Rc<Kept>) {
        if *machine == self.home {
            self.kept.insert(key, kept);
            return;
        }
        self.forgotten.remove(&key);
        self.others.push_back((key, kept));
        let processes = |kept: &Kept| kept.as_ref().map_or(0, |(sessions, _)| sessions.processes());
        while self.others.iter().map(|(_, kept)| processes(kept)).sum::<usize>() > MOST_OF_OTHERS
            && self.others.len() > 1
        {
            self.forgotten.extend(self.others.pop_front().map(|(key, _)| key));
        }
    }
}
