//! What somebody may change of a machine while it is measured.

use std::collections::BTreeMap;

use super::Facts;
use super::list::FACTS;

/// What decides numbers and can be set while a session runs, so that it is read again at the
/// session's end.
pub const SETTABLE: [&str; 6] =
    ["CPU quota", "CPUs online", "CPUs allowed", "frequency governor", "platform profile", "clock source"];

impl Facts {
    /// What was set otherwise since these were read: by name, as it is now.
    pub fn changed_since(&self) -> BTreeMap<String, String> {
        self.changed(&self.anew())
    }

    /// The same with what can be set as it is now.
    pub fn anew(&self) -> Self {
        let mut own = self.clone();
        for fact in FACTS.iter().filter(|fact| SETTABLE.contains(&fact.name)) {
            own.known.remove(fact.name);
            own.unavailable.remove(fact.name);
            own.note(fact);
        }
        own
    }

    /// What was set otherwise since: by name, as it is later. What can no longer be read is unknown
    /// then.
    fn changed(&self, later: &Self) -> BTreeMap<String, String> {
        let value = |facts: &Self, name: &str| facts.known.get(name).cloned();
        let changed = |name: &&str| value(self, name) != value(later, name);
        let now = |name: &str| (name.to_owned(), value(later, name).unwrap_or_else(|| "unknown".to_owned()));
        SETTABLE.into_iter().filter(changed).map(now).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_otherwise_is_named_as_it_is_later() {
        let facts = |known: &[(&str, &str)]| Facts {
            known: known.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..Facts::default()
        };
        let before = facts(&[
            ("CPU quota", "none"),
            ("clock source", "tsc"),
            ("frequency governor", "powersave"),
            ("memory", "1"),
        ]);
        let later = facts(&[("CPU quota", "0.5 CPUs"), ("clock source", "tsc"), ("memory", "2")]);
        let changed: Vec<(String, String)> = before.changed(&later).into_iter().collect();
        let wanted = [("CPU quota", "0.5 CPUs"), ("frequency governor", "unknown")];
        assert_eq!(changed, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert!(before.changed(&before).is_empty());
        let here = Facts::read();
        assert_eq!(here.anew(), here, "nothing is set meanwhile");
    }
}
