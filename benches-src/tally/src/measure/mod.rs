//! How it is seen: sessions, processes, building and linking, what runs beside, and what counts.

pub mod background;
pub mod budget;
pub mod child;
pub mod core_to_core;
pub mod counted;
pub mod environment;
mod exited;
pub mod git;
pub mod identity;
mod instructions;
pub mod interrupted;
pub mod programs;
pub mod session;
pub mod system_calls;
mod tracing;
