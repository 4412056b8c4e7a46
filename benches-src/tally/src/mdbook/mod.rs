//! What mdBook calls.

pub mod commands;
pub mod heads;
pub mod moved;
pub mod preprocess;
pub mod printed;
pub mod settings;
