//! Plans, runs, keeps, computes and prints the measurements of this book.
//!
//! Data flow in one direction, and so do imports: a *program* prints an *observation*; [`measure`]
//! runs the cells of an experiment in rounds and writes a [`record`]; [`compute`] makes numbers of
//! it when they are asked for; [`print`](mod@print) shows them; [`mdbook`] puts them into pages.
//! What was asked stands in [`book`]. No two of these rooms know each other: `tests/rooms.rs` reads
//! their imports. `plans`, `identity`, `machine` and `results` are crates, so that what reads
//! records is compiled for speed and the rest as soon as it can be.
//!
//! **Never:** printing never measures, and measuring never prints a page. Only `measure` and
//! `export` write below `data/`, but for `between --derive`. Text that came from a record goes
//! through [`print::escape`]. A sentence never mixes two machines.

#![forbid(unsafe_code)]

pub mod cmd;
pub mod command_line;
pub mod mdbook;
pub mod measure;
pub mod print;

pub use machine::answered;
pub use plans::{book, name, project, remembered, say};
pub use results::{compute, record, statistics};
