//! What a narrow drawing has otherwise than the wide one of its shape: a JSON Patch, of whose
//! operations three are enough (RFC 6902).

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::{Map, Value};

/// One change. Its path is a JSON Pointer (RFC 6901).
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum Change {
    /// A field that is not there yet, or an element of a list before the one at this place.
    Add { path: String, value: Value },
    /// A field or an element that is there.
    Remove { path: String },
    /// A value that is there and another.
    Replace { path: String, value: Value },
}

const NOTHING: &str = "there is nothing";

impl Change {
    fn path(&self) -> &str {
        match self {
            Change::Add { path, .. } | Change::Remove { path } | Change::Replace { path, .. } => path,
        }
    }

    /// What changes nothing is a mistake, as is what is nowhere.
    pub fn apply(&self, to: &mut Value) -> Result<()> {
        self.try_apply(to).with_context(|| format!("at {}", self.path()))
    }

    fn try_apply(&self, to: &mut Value) -> Result<()> {
        let (parent, key) = self.path().rsplit_once('/').context("a path begins with /")?;
        if let Change::Replace { path, value } = self {
            let old = to.pointer_mut(path).context(NOTHING)?;
            ensure!(old != value, "this value is there already");
            *old = value.clone();
            return Ok(());
        }
        let value = if let Change::Add { value, .. } = self { Some(value.clone()) } else { None };
        match to.pointer_mut(parent) {
            Some(Value::Object(fields)) => in_fields(fields, key.replace("~1", "/").replace("~0", "~"), value),
            Some(Value::Array(list)) => in_list(list, key.parse()?, value),
            _ => bail!(NOTHING),
        }
    }
}

/// Puts a value there, or takes away what is there.
fn in_fields(fields: &mut Map<String, Value>, key: String, value: Option<Value>) -> Result<()> {
    match value {
        Some(value) => ensure!(fields.insert(key, value).is_none(), "a value is there already"),
        None => drop(fields.remove(&key).context(NOTHING)?),
    }
    Ok(())
}

/// The same of a list, in which what follows moves on.
fn in_list(list: &mut Vec<Value>, place: usize, value: Option<Value>) -> Result<()> {
    ensure!(place < list.len() + usize::from(value.is_some()), NOTHING);
    match value {
        Some(value) => list.insert(place, value),
        None => drop(list.remove(place)),
    }
    Ok(())
}
