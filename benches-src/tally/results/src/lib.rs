//! What was seen, which [`record`] keeps, and the numbers that [`compute`] makes of it. A crate of
//! their own, since they alone read thousands of processes: they are compiled a little optimised.

#![forbid(unsafe_code)]

pub mod compute;
pub mod record;
pub mod statistics;

use plans::{book, name, project, remembered};
