//! What a record was made of, as it says itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What earlier records call the plan among their sources; it decides nothing.
pub const PLAN: &str = "plan";

/// Everything that decides what programs do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    /// The files that programs are made of, each with a hash of what it says to the compiler.
    /// Records without [`Self::code`] have hashes of files' bytes, and only of those that were
    /// found by their names.
    pub own: BTreeMap<String, String>,
    /// What all programs stand on: harness, dependencies, compiler, flags.
    pub beneath: BTreeMap<String, String>,
    /// The machine code of each program, where it can be read. Records that were made before it was
    /// noted down lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<BTreeMap<String, String>>,
}
