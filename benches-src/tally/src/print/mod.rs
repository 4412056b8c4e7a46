//! What a reader is shown. The only place that rounds, the only one that escapes.

pub mod across;
pub mod calculator;
pub mod charts;
pub mod comparison;
pub mod downloads;
pub mod escape;
pub mod figure;
pub mod format;
pub mod formats;
pub mod frame;
pub mod points;
pub mod render;
pub mod results;
pub mod rows;
pub mod scatter;
pub mod sentences;
pub mod table;
pub mod takeaways;
pub mod view;
