//! A cell: program × parameters × placement × condition. Its written form is also what selects it
//! in expressions.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::book::allocator::{self, Allocator};
use crate::book::neighbour::Kind;

/// One thing that is measured.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// The program's name, without its chapter.
    pub program: String,
    /// Every parameter that the plan sets.
    pub parameters: BTreeMap<String, Value>,
    /// `one-cpu`, `two-cpus` or `free`.
    pub placement: String,
    /// What is changed around the program, such as `spinners`; `twin` changes nothing and is the
    /// second arm of an A/A pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

/// All threads on one CPU.
pub const ONE_CPU: &str = "one-cpu";

/// The placements that programs understand.
pub const PLACEMENTS: [&str; 3] = [ONE_CPU, "two-cpus", "free"];

/// The conditions that a plan can ask for. Another condition, `twin`, comes from the plan's A/A
/// pairs.
pub const CONDITIONS: [&str; 8] =
    [SPINNERS, STREAMER, NO_STACK_CACHE, LARGE_STACK_CACHE, ONE_ARENA, LARGE_TCACHE, JEMALLOC, MIMALLOC];

/// The condition under which no CPU goes idle: on each, a process spins that gives way to every
/// other.
pub const SPINNERS: &str = "spinners";

/// The condition under which what all cores share of a cache holds little of what is measured: on
/// another core, a process reads through more memory than fits in.
pub const STREAMER: &str = "streamer";

/// The condition under which glibc unmaps the stack of every thread that ends instead of keeping it
/// for the next.
pub const NO_STACK_CACHE: &str = "no-stack-cache";

/// The condition under which glibc keeps the stacks of all threads that have ended, up to four
/// gibibytes of them.
pub const LARGE_STACK_CACHE: &str = "large-stack-cache";

/// The condition under which glibc's allocator keeps up to 200 freed blocks of each small size at
/// hand for each thread, instead of seven.
pub const LARGE_TCACHE: &str = "large-tcache";

/// The condition under which all threads share one arena of glibc's allocator.
pub const ONE_ARENA: &str = "one-arena";

/// The condition under which jemalloc takes the place of the C library's allocator.
pub const JEMALLOC: &str = "jemalloc";

/// The condition under which mimalloc does.
pub const MIMALLOC: &str = "mimalloc";

/// The condition of an A/A pair's second arm.
pub const TWIN: &str = "twin";

/// The condition of a cell whose program is the one that another has taken the place of, where both
/// are measured side by side.
pub const BEFORE: &str = "before";

/// Whether a key of a grid is a parameter.
pub fn is_parameter(key: &str) -> bool {
    !["placement", "condition"].contains(&key)
}

impl Cell {
    /// The command line that runs it, without the program's own name.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        for (name, value) in &self.parameters {
            arguments.extend([format!("--{}", name.replace('_', "-")), plain(value)]);
        }
        arguments.extend(["--placement".to_owned(), self.placement.clone()]);
        arguments
    }

    /// The same cell as the second arm of an A/A pair.
    pub fn twin(&self) -> Self {
        Self { condition: Some(TWIN.to_owned()), ..self.clone() }
    }

    /// Whether this is the second arm of an A/A pair.
    pub fn is_twin(&self) -> bool {
        self.condition.as_deref() == Some(TWIN)
    }

    /// The same cell with the program as it was before it was rewritten.
    pub fn before(&self) -> Self {
        Self { condition: Some(BEFORE.to_owned()), ..self.clone() }
    }

    /// Whether its program is the one that another has taken the place of.
    pub fn is_before(&self) -> bool {
        self.condition.as_deref() == Some(BEFORE)
    }

    /// The same cell with nothing changed around the program.
    pub fn plain(&self) -> Self {
        Self { condition: None, ..self.clone() }
    }

    /// The processes beside it that make its condition, where it is one that they make.
    pub fn neighbours(&self) -> Option<Kind> {
        match self.condition.as_deref() {
            Some(SPINNERS) => Some(Kind::Spinners),
            Some(STREAMER) => Some(Kind::Streamer),
            _ => None,
        }
    }

    /// The variable of the environment that makes its condition, where it is one of glibc's.
    pub fn variable(&self) -> Option<(&'static str, &'static str)> {
        match self.condition.as_deref() {
            Some(NO_STACK_CACHE) => Some(("GLIBC_TUNABLES", "glibc.pthread.stack_cache_size=0")),
            Some(LARGE_STACK_CACHE) => Some(("GLIBC_TUNABLES", "glibc.pthread.stack_cache_size=4294967296")),
            Some(LARGE_TCACHE) => Some(("GLIBC_TUNABLES", "glibc.malloc.tcache_count=200")),
            Some(ONE_ARENA) => Some(("MALLOC_ARENA_MAX", "1")),
            _ => None,
        }
    }

    /// The allocator that makes its condition, where it is one that is loaded before the C library.
    pub fn allocator(&self) -> Option<&'static Allocator> {
        match self.condition.as_deref() {
            Some(JEMALLOC) => Some(&allocator::JEMALLOC),
            Some(MIMALLOC) => Some(&allocator::MIMALLOC),
            _ => None,
        }
    }

    /// Program and parameters as a reader would say them; parameters that a whole table shares may
    /// be left out.
    pub fn label(&self, shared: &[String]) -> String {
        let own = self.parameters.iter().filter(|(name, _)| !shared.contains(name));
        let own = own.map(|(name, value)| match value {
            Value::String(word) => word.clone(),
            number => format!("{name} {number}"),
        });
        [self.program.clone()].into_iter().chain(own).chain(self.condition.clone()).collect::<Vec<_>>().join(" · ")
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.program)?;
        for (name, value) in &self.parameters {
            write!(f, "{name}={}, ", plain(value))?;
        }
        write!(f, "{}", self.placement)?;
        if let Some(condition) = &self.condition {
            write!(f, ", {condition}")?;
        }
        write!(f, "]")
    }
}

/// A value as it stands on a command line.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}
