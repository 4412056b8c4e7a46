//! What was seen: the format of records, and whether a record is of what lies here now. Facts about
//! the machine and what tells programs apart are crates of their own.

pub mod compression;
pub mod contributed;
pub mod copies;
pub mod digest;
pub mod freshness;
pub mod history;
mod lines;
pub mod made_up;
pub mod names;
pub mod publishable;
mod records;
pub mod samples;
pub mod seen;
mod sessions;
pub mod side_by_side;
pub mod store;
mod strict;
pub mod validity;
mod writer;

pub use digest::{Digest, Entry};
pub use identity::{beneath, checksum, known, programs, sources};
pub use lines::*;
pub use machine;
pub use machine::{private, processors};
pub use records::*;
pub use sessions::*;
pub use strict::first_unknown_field;
pub use writer::*;
