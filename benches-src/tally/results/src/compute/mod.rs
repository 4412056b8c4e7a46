//! What it comes to: series of rounds, quantities, slopes, noise, verdicts.

pub mod apart;
pub mod between;
pub mod derive;
mod distance;
pub mod doubts;
pub mod judging;
pub mod kind;
pub mod ledger;
pub mod numbers;
pub mod quantity;
pub mod series;
pub mod sessions;
pub mod spread;
pub mod unused;
