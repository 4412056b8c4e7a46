//! Tally as a whole: started as a reader starts it, in projects of the tests' own. One executable,
//! since each takes as long to link.

mod compare_builds;
mod confirm;
mod contributing;
mod count;
mod described;
mod dumbbells;
mod formats;
mod forms;
mod identity;
mod import;
mod ledgers;
mod limits;
mod link_orders;
mod listing;
mod machines;
mod measure;
mod mutated;
mod neighbours;
mod obstacles;
mod plans;
mod preprocess;
mod promised;
mod quantities;
mod sessions;
#[path = "../support/mod.rs"]
mod support;
mod sweeps;
mod takeaways;
