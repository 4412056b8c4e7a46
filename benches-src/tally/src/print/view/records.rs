//! Records in memory: all of one machine, and of others those that were looked at last.

use std::collections::{HashMap, VecDeque};
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
    /// All of its own, and of which experiments others have none.
    kept: HashMap<Key, Rc<Kept>>,
    /// Of other machines, in the order in which they were looked at.
    others: VecDeque<(Key, Rc<Kept>)>,
    /// How many processes these have.
    processes: usize,
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
        Self { home, kept: HashMap::new(), others: VecDeque::new(), processes: 0 }
    }

    pub fn has(&self, key: &Key) -> bool {
        self.kept.contains_key(key) || self.others.iter().any(|(own, ..)| own == key)
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
        // Why there is none takes no room.
        if *machine == self.home || kept.is_err() {
            self.kept.insert(key, kept);
            return;
        }
        self.processes += processes(&kept);
        self.others.push_back((key, kept));
        while self.processes > MOST_OF_OTHERS && self.others.len() > 1 {
            self.processes -= self.others.pop_front().map_or(0, |(_, kept)| processes(&kept));
        }
    }
}

fn processes(kept: &Kept) -> usize {
    kept.as_ref().map_or(0, |(sessions, _)| sessions.processes())
}
