//! The programs of this chapter, run as a reader runs them. One executable, since each takes as
//! long to link.

mod asking;
mod building;
mod computing;
mod connecting;
mod costs;
mod lacking;
mod pipelines;
mod programs;
mod running;
mod servers;
mod spreading;
#[path = "../../../harness/tests/support/mod.rs"]
mod support;
mod weighing;
