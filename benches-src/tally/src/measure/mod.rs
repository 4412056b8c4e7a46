//! How it is seen: sessions, processes, building and linking, what runs beside, and what counts.

pub mod bound;
pub mod core_to_core;
pub mod counted;
mod ended;
pub mod extent;
pub mod git;
pub mod identity;
mod instructions;
pub mod interrupted;
pub mod neighbours;
pub mod programs;
pub mod session;
pub mod surroundings;
pub mod system_calls;
mod tracing;
