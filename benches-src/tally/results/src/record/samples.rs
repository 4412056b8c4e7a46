//! Samples as a record keeps them: a column for each thing that was read at every sample, since a
//! list of samples says each name as often as there are samples. What programs print stays that
//! list.

use std::collections::BTreeSet;

use observation::Window;
use serde::{Deserialize, Serialize};

use super::names::{Named, object};
use super::seen::{STOPPED_MS, Timed, Usual};
use crate::statistics;

/// As many values in each column as there are samples, in the order in which they were taken.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Unchecked")]
pub struct Columns {
    operations: Vec<u64>,
    elapsed_ns: Vec<u64>,
    /// By name; nothing where a sample lacks a counter that another has.
    #[serde(with = "object")]
    counters: Named<Vec<Option<u64>>>,
}

/// The same before the columns' lengths are compared.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "samples in columns")]
struct Unchecked {
    operations: Vec<u64>,
    elapsed_ns: Vec<u64>,
    #[serde(with = "object")]
    counters: Named<Vec<Option<u64>>>,
}

impl TryFrom<Unchecked> for Columns {
    type Error = String;

    fn try_from(own: Unchecked) -> Result<Self, String> {
        let count = own.operations.len();
        let others = own.counters.iter().map(|(name, column)| (&**name, column.len()));
        let other =
            [("elapsed_ns", own.elapsed_ns.len())].into_iter().chain(others).find(|(_, length)| *length != count);
        if let Some((name, length)) = other {
            return Err(format!("{count} samples have operations, and {length} have {name}"));
        }
        Ok(Self { operations: own.operations, elapsed_ns: own.elapsed_ns, counters: own.counters })
    }
}

impl Columns {
    pub fn of(samples: &[Window]) -> Self {
        let names: BTreeSet<&String> = samples.iter().flat_map(|sample| sample.counters.keys()).collect();
        let column = |name: &String| samples.iter().map(|sample| sample.counters.get(name).copied()).collect();
        Self {
            operations: samples.iter().map(|sample| sample.operations).collect(),
            elapsed_ns: samples.iter().map(|sample| sample.elapsed_ns).collect(),
            counters: names.into_iter().map(|name| (name.as_str().into(), column(name))).collect(),
        }
    }

    pub fn len(&self) -> usize {
        self.operations.len()
    }

    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Of each sample, its operations and its nanoseconds.
    pub fn times(&self) -> impl Iterator<Item = (u64, u64)> {
        self.operations.iter().copied().zip(self.elapsed_ns.iter().copied())
    }

    /// Each number that a sample counted, with its name.
    pub fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        let counters =
            self.counters.iter().flat_map(|(name, column)| column.iter().flatten().map(|count| (&**name, *count)));
        self.operations.iter().map(|count| ("operations", *count)).chain(counters)
    }

    /// What they come to; nothing where there are none.
    pub fn summary(&self) -> Option<Timed> {
        let each: Vec<f64> = self.times().map(|(operations, ns)| ns as f64 / operations as f64).collect();
        let of_first = self.counters.iter().filter(|(_, column)| column.first().is_some_and(Option::is_some));
        Some(Timed {
            samples: self.len() as u64,
            operations: self.operations.iter().sum(),
            elapsed_ns: self.elapsed_ns.iter().sum(),
            ns_per_operation: statistics::median(&each)?,
            cpu_ns_per_operation: self.cpu_time(),
            counters: of_first.map(|(name, column)| (name.clone(), column.iter().flatten().sum())).collect(),
            one_stands_out: self.one_stands_out(&each),
        })
    }

    /// The median over samples of an operation's CPU time, in nanoseconds.
    fn cpu_time(&self) -> Option<f64> {
        let (user, system) = (self.counters.get("user_ns")?, self.counters.get("system_ns")?);
        let both = user.iter().zip(system).zip(&self.operations);
        let each: Option<Vec<f64>> = both
            .map(|((user, system), operations)| Some(((*user)? + (*system)?) as f64 / *operations as f64))
            .collect();
        statistics::median(&each?)
    }

    fn one_stands_out(&self, each: &[f64]) -> bool {
        let usual = Usual::of(each);
        let by = |operations: &u64| STOPPED_MS * 1e6 / *operations as f64;
        each.iter().zip(&self.operations).any(|(own, operations)| usual.is_exceeded(*own, by(operations)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    fn windows() -> impl Strategy<Value = Vec<Window>> {
        let counters = prop::collection::btree_map("[a-c]_ns|system_[a-c]", any::<u64>(), 0..4);
        let window = (any::<u64>(), any::<u64>(), counters);
        let window = window.prop_map(|(operations, elapsed_ns, counters)| Window { operations, elapsed_ns, counters });
        prop::collection::vec(window, 0..6)
    }

    proptest! {
        #[test]
        fn samples_come_back_as_they_were_also_where_some_lack_a_counter(samples in windows()) {
            let kept = Columns::of(&samples);
            let text = serde_json::to_string(&kept).unwrap();
            let read: Columns = serde_json::from_str(&text).unwrap();
            let times: Vec<_> = samples.iter().map(|sample| (sample.operations, sample.elapsed_ns)).collect();
            prop_assert_eq!(read.times().collect::<Vec<_>>(), times);
            for (index, sample) in samples.iter().enumerate() {
                let own = read.counters.iter().filter_map(|(name, column)| Some((name.to_string(), column[index]?)));
                prop_assert_eq!(own.collect::<BTreeMap<_, _>>(), sample.counters.clone());
            }
            prop_assert_eq!(read, kept);
        }
    }

    #[test]
    fn a_name_stands_once_however_many_samples_there_are() {
        let sample = |elapsed_ns| Window { operations: 3, elapsed_ns, counters: [("user_ns".to_owned(), 7)].into() };
        let text = serde_json::to_string(&Columns::of(&[sample(10), sample(20)])).unwrap();
        assert_eq!(text, r#"{"operations":[3,3],"elapsed_ns":[10,20],"counters":{"user_ns":[7,7]}}"#);
    }

    #[test]
    fn columns_of_unequal_length_are_an_error_that_names_one() {
        for (columns, reason) in [
            (
                r#"{"operations":[3,3],"elapsed_ns":[10],"counters":{}}"#,
                "2 samples have operations, and 1 have elapsed_ns",
            ),
            (r#"{"operations":[3],"elapsed_ns":[10],"counters":{"x":[]}}"#, "1 samples have operations, and 0 have x"),
            (r#""none""#, "expected samples in columns"),
        ] {
            let error = serde_json::from_str::<Columns>(columns).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    fn window(operations: u64, elapsed_ns: u64, counters: &[(&str, u64)]) -> Window {
        let counters = counters.iter().map(|(name, moved)| ((*name).to_owned(), *moved)).collect();
        Window { operations, elapsed_ns, counters }
    }

    #[test]
    fn samples_come_to_sums_and_medians() {
        let samples = [
            window(10, 100, &[("user_ns", 20), ("system_ns", 10), ("switches", 3)]),
            window(20, 500, &[("user_ns", 50), ("system_ns", 10)]),
            window(10, 300, &[("user_ns", 70), ("system_ns", 20), ("migrations", 1)]),
        ];
        let timed = Columns::of(&samples).summary().unwrap();
        assert_eq!((timed.samples, timed.operations, timed.elapsed_ns), (3, 40, 900));
        assert_eq!((timed.ns_per_operation, timed.cpu_ns_per_operation), (25.0, Some(3.0)));
        let counters: Vec<(&str, u64)> = timed.counters.iter().map(|(name, moved)| (&**name, *moved)).collect();
        assert_eq!(counters, [("switches", 3), ("system_ns", 40), ("user_ns", 140)], "of the first sample's counters");
        assert!(!timed.one_stands_out);
        assert_eq!(Columns::of(&[]).summary(), None);
        assert_eq!(Columns::of(&[window(1, 1, &[("user_ns", 1)])]).summary().unwrap().cpu_ns_per_operation, None);
    }

    #[test]
    fn a_sample_that_stood_still_for_seconds_stands_out() {
        let mut samples = vec![window(10, 1000, &[]); 5];
        samples[3].elapsed_ns += 2_600_000_000;
        assert!(Columns::of(&samples).summary().unwrap().one_stands_out);
        samples[3].elapsed_ns -= 200_000_000;
        assert!(!Columns::of(&samples).summary().unwrap().one_stands_out);
    }
}
