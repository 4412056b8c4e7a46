//! A column of values, one of each process: as a list, or said once where all are alike.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;

use anyhow::{Result, bail, ensure};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// As it is written: `[…]`, or `{"all": …}`.
#[derive(Debug, Clone, PartialEq)]
pub enum Column<T> {
    /// In each of the processes.
    All(T),
    /// In one after the other.
    Each(Vec<T>),
}

impl<T: Clone + PartialEq> Column<T> {
    /// As short as it can be said.
    pub fn of(values: impl IntoIterator<Item = T>) -> Self {
        let values = Vec::from_iter(values);
        match values.split_first() {
            Some((first, rest)) if !rest.is_empty() && rest.iter().all(|value| value == first) => {
                Self::All(first.clone())
            }
            _ => Self::Each(values),
        }
    }

    /// Again as many values as there are processes. Another number of them is an error.
    pub fn values(self, processes: usize, name: &str) -> Result<Vec<T>> {
        match self {
            Self::All(value) => Ok(vec![value; processes]),
            Self::Each(values) => {
                ensure!(values.len() == processes, "{processes} processes, and {} have {name}", values.len());
                Ok(values)
            }
        }
    }
}

/// A column for each name that any of the maps has; nothing where one lacks it.
pub fn by_name<'a, T: Clone + PartialEq + 'a>(
    maps: impl Iterator<Item = &'a BTreeMap<String, T>> + Clone,
) -> BTreeMap<String, Column<Option<T>>> {
    let names: BTreeSet<&String> = maps.clone().flat_map(BTreeMap::keys).collect();
    let column = |name: &String| Column::of(maps.clone().map(|map| map.get(name).cloned()));
    names.into_iter().map(|name| (name.clone(), column(name))).collect()
}

/// The maps again, as many as there are processes.
pub fn maps<T: Clone + PartialEq>(
    columns: BTreeMap<String, Column<Option<T>>>,
    processes: usize,
) -> Result<Vec<BTreeMap<String, T>>> {
    let mut maps = vec![BTreeMap::new(); processes];
    for (name, column) in columns {
        if matches!(&column, Column::All(None)) {
            bail!("{name} is in no process");
        }
        for (map, value) in maps.iter_mut().zip(column.values(processes, &name)?) {
            map.extend(value.map(|value| (name.clone(), value)));
        }
    }
    Ok(maps)
}

impl<T: Serialize> Serialize for Column<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All(value) => BTreeMap::from([("all", value)]).serialize(serializer),
            Self::Each(values) => values.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Column<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = Column<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of values, or what all of them are")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let only = "a column of like values has the member \"all\" and no other";
                let Some("all") = map.next_key::<String>()?.as_deref() else { return Err(A::Error::custom(only)) };
                let value = map.next_value()?;
                if map.next_key::<String>()?.is_some() {
                    return Err(A::Error::custom(only));
                }
                Ok(Column::All(value))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(Column::Each(values))
            }
        }

        deserializer.deserialize_any(Either(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_column_comes_back_as_it_was(values in prop::collection::vec(prop::option::of(0..3_u64), 0..6)) {
            let column = Column::of(values.clone());
            let text = serde_json::to_string(&column).unwrap();
            let read: Column<Option<u64>> = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&read, &column);
            prop_assert_eq!(read.values(values.len(), "x").unwrap(), values);
        }

        #[test]
        fn maps_come_back_as_they_were(own in prop::collection::vec(prop::collection::btree_map("[a-c]", 0..3_u64, 0..3), 0..5)) {
            prop_assert_eq!(maps(by_name(own.iter()), own.len()).unwrap(), own);
        }
    }

    #[test]
    fn like_values_are_said_once_and_another_number_of_them_is_an_error() {
        assert_eq!(serde_json::to_string(&Column::of([7, 7, 7])).unwrap(), r#"{"all":7}"#);
        assert_eq!(serde_json::to_string(&Column::of([7])).unwrap(), "[7]");
        let error = Column::of([1, 2]).values(3, "took_ms").unwrap_err().to_string();
        assert_eq!(error, "3 processes, and 2 have took_ms");
        for text in ["{}", r#"{"all":1,"some":2}"#, r#"{"some":2}"#, "7", r#"{"all":1,"all":2}"#] {
            assert!(serde_json::from_str::<Column<u64>>(text).is_err(), "{text}");
        }
        assert!(maps(BTreeMap::from([("x".to_owned(), Column::All(None::<u64>))]), 2).is_err());
    }
}
