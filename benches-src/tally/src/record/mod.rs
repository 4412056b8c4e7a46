//! What was seen: the format of records, facts about the machine, and whether a record is of what lies here now.

pub mod code;
pub mod columns;
pub mod contributed;
pub mod copies;
pub mod digest;
mod exact;
pub mod history;
pub mod known;
mod lines;
pub mod machine;
pub mod packed;
pub mod private;
pub mod processors;
pub mod programs;
pub mod publishable;
pub mod seen;
mod sessions;
pub mod side_by_side;
pub mod sound;
pub mod sources;
pub mod store;
pub mod sum;
pub mod tokens;
mod whole;
mod writer;

pub use digest::{Digest, Entry};
pub use exact::smuggled;
pub use lines::*;
pub use sessions::*;
pub use whole::*;
pub use writer::*;
