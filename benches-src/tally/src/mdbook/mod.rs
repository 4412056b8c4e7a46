//! What mdBook calls.

pub mod preprocess;
pub mod printed;
