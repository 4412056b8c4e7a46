//! Whether what ran is what lies here: of which sources and machine code a program is, and on what
//! it stands.

#![forbid(unsafe_code)]

pub mod beneath;
pub mod checksum;
mod code;
pub mod known;
pub mod programs;
pub mod sources;
mod symbols;
mod tokens;
