//! Plans, runs, keeps, computes and prints the measurements of this book.
//!
//! Data flow in one direction: a *program* prints an *observation*; [`session`] runs the cells of an experiment in rounds
//! and writes a *record*; [`quantity`] computes numbers from a record when they are asked for; [`cmd`] prints them.
//!
//! **Never:** printing never measures, and measuring never prints a page. Only `measure` and `export` write below `data/`.
//! Text that came from a record goes through [`escape`]. A sentence never mixes two machines.

pub mod calculator;
pub mod cell;
pub mod charts;
pub mod cmd;
pub mod columns;
pub mod command_line;
pub mod core_to_core;
pub mod counted;
pub mod directive;
pub mod downloads;
pub mod escape;
pub mod expression;
pub mod format;
pub mod frame;
pub mod instructions;
pub mod ledger;
pub mod machine;
pub mod measure;
pub mod measures;
pub mod name;
pub mod neighbours;
pub mod plan;
pub mod points;
pub mod printed;
pub mod programs;
pub mod project;
pub mod published;
pub mod quantities;
pub mod quantity;
pub mod record;
pub mod render;
pub mod say;
pub mod session;
pub mod sound;
pub mod sources;
pub mod statistics;
pub mod system_calls;
pub mod takeaways;
pub mod verdict;
pub mod view;
