//! What it comes to: series of rounds, quantities, slopes, noise, verdicts.

mod doubts;
pub mod judging;
pub mod ledger;
pub mod quantity;
pub mod series;
