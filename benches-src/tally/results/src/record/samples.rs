//! Samples as a record keeps them: a column for each thing that was read at every sample, since a
//! list of samples says each name as often as there are samples. What programs print stays that
//! list.

use std::collections::{BTreeMap, BTreeSet};

use observation::Window;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// As many values in each column as there are samples, in the order in which they were taken.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Columns {
    operations: Vec<u64>,
    elapsed_ns: Vec<u64>,
    /// By name; nothing where a sample lacks a counter that another has.
    counters: BTreeMap<String, Vec<Option<u64>>>,
}

impl Columns {
    fn of(samples: &[Window]) -> Self {
        let names: BTreeSet<&String> = samples.iter().flat_map(|sample| sample.counters.keys()).collect();
        let column = |name: &String| samples.iter().map(|sample| sample.counters.get(name).copied()).collect();
        Self {
            operations: samples.iter().map(|sample| sample.operations).collect(),
            elapsed_ns: samples.iter().map(|sample| sample.elapsed_ns).collect(),
            counters: names.into_iter().map(|name| (name.clone(), column(name))).collect(),
        }
    }

    /// The samples again, unless a column is longer or shorter than the others.
    fn samples(self) -> Result<Vec<Window>, String> {
        let count = self.operations.len();
        let lengths = [("elapsed_ns", self.elapsed_ns.len())].into_iter();
        let lengths = lengths.chain(self.counters.iter().map(|(name, column)| (name.as_str(), column.len())));
        if let Some((name, length)) = lengths.into_iter().find(|(_, length)| *length != count) {
            return Err(format!("{count} samples have operations, and {length} have {name}"));
        }
        let windows = self.operations.iter().zip(&self.elapsed_ns);
        let mut samples: Vec<Window> = windows
            .map(|(operations, elapsed_ns)| Window {
                operations: *operations,
                elapsed_ns: *elapsed_ns,
                counters: BTreeMap::new(),
            })
            .collect();
        for (name, column) in self.counters {
            for (sample, value) in samples.iter_mut().zip(column) {
                sample.counters.extend(value.map(|value| (name.clone(), value)));
            }
        }
        Ok(samples)
    }
}

/// For serde's `with`.
pub fn serialize<S: Serializer>(samples: &[Window], serializer: S) -> Result<S::Ok, S::Error> {
    Columns::of(samples).serialize(serializer)
}

/// For serde's `with`.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Window>, D::Error> {
    Columns::deserialize(deserializer)?.samples().map_err(Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Kept(#[serde(with = "super")] Vec<Window>);

    fn windows() -> impl Strategy<Value = Vec<Window>> {
        let counters = prop::collection::btree_map("[a-c]_ns|system_[a-c]", any::<u64>(), 0..4);
        let window = (any::<u64>(), any::<u64>(), counters);
        let window = window.prop_map(|(operations, elapsed_ns, counters)| Window { operations, elapsed_ns, counters });
        prop::collection::vec(window, 0..6)
    }

    proptest! {
        #[test]
        fn samples_come_back_as_they_were_also_where_some_lack_a_counter(samples in windows()) {
            let kept = Kept(samples);
            let text = serde_json::to_string(&kept).unwrap();
            prop_assert_eq!(serde_json::from_str::<Kept>(&text).unwrap(), kept);
        }
    }

    #[test]
    fn a_name_stands_once_however_many_samples_there_are() {
        let sample = |elapsed_ns| Window { operations: 3, elapsed_ns, counters: [("user_ns".to_owned(), 7)].into() };
        let text = serde_json::to_string(&Kept(vec![sample(10), sample(20)])).unwrap();
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
            (r#""none""#, "expected struct Columns"),
        ] {
            let error = serde_json::from_str::<Kept>(columns).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
