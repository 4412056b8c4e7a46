//! Names of what was seen. Thousands of processes say the same few: each name is in memory once,
//! and what a process has by name lies in one piece.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use litemap::LiteMap;
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// What a process has by name.
pub type Named<T> = LiteMap<Name, T>;

/// The name of a measure, a counter or a parameter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(Arc<str>);

/// Somebody's file may have any number of names.
const MOST_KNOWN: usize = 1 << 12;

thread_local! {
    static KNOWN: RefCell<HashSet<Arc<str>>> = RefCell::default();
}

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        KNOWN.with_borrow_mut(|known| {
            if let Some(own) = known.get(name) {
                return Self(own.clone());
            }
            let own: Arc<str> = name.into();
            if known.len() < MOST_KNOWN {
                known.insert(own.clone());
            }
            Self(own)
        })
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        self
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Name;

            fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
                to.write_str("a name")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
                Ok(name.into())
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// What was printed, as it is looked at.
pub fn named<T>(own: BTreeMap<String, T>) -> Named<T> {
    own.into_iter().map(|(name, value)| (name.as_str().into(), value)).collect()
}

/// For serde's `with`: an object and nothing else. LiteMap writes none as a list, and reads one.
pub mod object {
    use std::marker::PhantomData;

    use serde::de::MapAccess;

    use super::*;

    pub fn serialize<T: Serialize, S: Serializer>(own: &Named<T>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(own.iter())
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Named<T>, D::Error> {
        deserializer.deserialize_map(Object(PhantomData))
    }

    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = Named<T>;

        fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
            to.write_str("an object")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Named<T>, M::Error> {
            // Members come in order, unless somebody else wrote them.
            let (mut named, mut late) = (Named::new(), Vec::new());
            while let Some((name, value)) = members.next_entry()? {
                late.extend(named.try_append(name, value));
            }
            named.extend(late);
            Ok(named)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_in_memory_once_and_written_as_it_was_read() {
        let text = r#"{"user_ns":1,"voluntary_switches":2}"#;
        let [one, other]: [Named<u64>; 2] = [(); 2].map(|()| serde_json::from_str(text).unwrap());
        let first = |own: &Named<u64>| own.keys().next().unwrap().0.clone();
        assert!(Arc::ptr_eq(&first(&one), &first(&other)));
        assert_eq!((one.get("voluntary_switches"), one.get("system_ns")), (Some(&2), None));
        assert_eq!(serde_json::to_string(&one).unwrap(), text);
    }

    #[test]
    fn an_object_is_one_also_where_nothing_is_in_it_and_a_list_is_none() {
        #[derive(Serialize, Deserialize)]
        struct Kept(#[serde(with = "object")] Named<u64>);

        let read = |text: &str| serde_json::from_str::<Kept>(text).map_err(|error| error.to_string());
        for text in ["{}", r#"{"a":1,"b":2}"#] {
            assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), text);
        }
        let late = serde_json::to_string(&read(r#"{"b":2,"c":3,"a":1,"b":4}"#).unwrap()).unwrap();
        assert_eq!(late, r#"{"a":1,"b":4,"c":3}"#, "in order, and the last of a name");
        for text in ["[]", r#"[["a",1]]"#] {
            assert!(read(text).err().unwrap_or_default().contains("expected an object"), "{text}");
        }
    }
}
