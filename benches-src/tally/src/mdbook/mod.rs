//! What mdBook calls.

pub mod heads;
pub mod moved;
pub mod preprocess;
pub mod printed;
