//! Plans, runs, keeps, computes and prints the measurements of this book.
//!
//! Data flow in one direction: a *program* prints an *observation*; [`session`] runs the cells of an experiment in rounds
//! and writes a *record*; [`quantity`] computes numbers from a record when they are asked for; [`cmd`] prints them.
//!
//! **Never:** printing never measures, and measuring never prints a page. Only `measure` and `export` write below `data/`.
//! Text that came from a record goes through [`escape`]. A sentence never mixes two machines.

pub mod book;
pub mod cmd;
pub mod command_line;
pub mod compute;
pub mod mdbook;
pub mod measure;
pub mod name;
pub mod print;
pub mod project;
pub mod record;
pub mod say;
pub mod statistics;
