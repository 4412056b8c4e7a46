//! What was computed once and is asked for again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;

use anyhow::Result;

/// What is kept under this key, or else is computed. Nothing is borrowed meanwhile, since one may
/// take others.
pub fn remembered<K: Eq + Hash, V: Clone>(
    kept: &RefCell<HashMap<K, V>>,
    key: K,
    compute: impl FnOnce() -> Result<V>,
) -> Result<V> {
    if let Some(known) = kept.borrow().get(&key) {
        return Ok(known.clone());
    }
    let computed = compute()?;
    kept.borrow_mut().insert(key, computed.clone());
    Ok(computed)
}
