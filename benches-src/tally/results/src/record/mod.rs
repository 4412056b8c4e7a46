//! What was seen: the format of records, facts about the machine, and whether a record is of what
//! lies here now.

pub mod beneath;
pub mod checksum;
pub mod code;
pub mod compression;
pub mod contributed;
pub mod copies;
pub mod digest;
mod files;
pub mod freshness;
pub mod history;
pub mod known;
mod lines;
pub mod machine;
pub mod made_up;
pub mod names;
pub mod private;
pub mod processors;
pub mod programs;
pub mod publishable;
mod records;
pub mod samples;
pub mod seen;
mod sessions;
pub mod side_by_side;
pub mod sources;
pub mod store;
mod strict;
pub mod tokens;
pub mod validity;
mod writer;

pub use digest::{Digest, Entry};
pub use lines::*;
pub use records::*;
pub use sessions::*;
pub use strict::first_unknown_field;
pub use writer::*;
