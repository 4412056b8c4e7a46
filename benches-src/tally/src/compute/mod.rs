//! What it comes to: series of rounds, quantities, slopes, noise, verdicts.

pub mod apart;
pub mod between;
pub mod derive;
pub mod doubts;
pub mod judging;
pub mod ledger;
pub mod quantity;
pub mod series;
pub mod sessions;
