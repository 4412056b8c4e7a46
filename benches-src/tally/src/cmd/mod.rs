//! One verb, one file.

pub mod become_bound;
pub mod between;
pub mod calculator;
pub mod chart;
pub mod check;
pub mod chips;
pub mod claim;
pub mod confirm;
pub mod convert;
pub mod different;
pub mod dumbbell;
pub mod export;
pub mod ladder;
pub mod limits;
pub mod list;
pub mod listing;
pub mod measure;
pub mod score;
pub mod spin;
pub mod stream;
pub mod table;
pub mod takeaway;
pub mod unpack;
pub mod value;
pub mod which;
