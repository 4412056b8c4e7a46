//! What was seen: the format of records, facts about the machine, and whether a record is of what lies here now.

pub mod columns;
mod lines;
pub mod machine;
pub mod private;
pub mod processors;
mod sessions;
pub mod sound;
pub mod sources;
pub mod successions;
mod whole;
mod writer;

pub use lines::*;
pub use sessions::*;
pub use whole::*;
pub use writer::*;
