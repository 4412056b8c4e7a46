//! What was asked, which [`book`] reads from the plans' files, and what all of tally stands on.

#![forbid(unsafe_code)]

pub mod book;
pub mod name;
pub mod project;
pub mod remembered;
pub mod say;
