//! What numbers count, and what comes of two of them.

use crate::book::expression::Operator;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds per operation.
    Nanoseconds,
    /// Bytes per operation.
    Bytes,
    /// A count per operation.
    Count,
    /// One quantity over another of the same unit.
    Ratio,
}

/// The unit of two combined; none where they do not fit.
pub fn unit_of(a: Unit, operator: Operator, b: Unit) -> Option<Unit> {
    use Unit::{Bytes, Count, Nanoseconds, Ratio};
    match (a, operator, b) {
        (a, Operator::Plus | Operator::Minus, b) => (a == b).then_some(a),
        (a, Operator::Over, b) if a == b => Some(Ratio),
        // So much each, times so many.
        (Nanoseconds, Operator::Times, Count | Ratio) | (Count | Ratio, Operator::Times, Nanoseconds) => {
            Some(Nanoseconds)
        }
        (Bytes, Operator::Times, Count | Ratio) | (Count | Ratio, Operator::Times, Bytes) => Some(Bytes),
        (unit @ (Nanoseconds | Bytes), Operator::Over, Count | Ratio) => Some(unit),
        // So many of it in so much.
        (Ratio, Operator::Over, Nanoseconds | Bytes) => Some(Count),
        (Count, Operator::Times | Operator::Over, Ratio) | (Ratio, Operator::Times, Count) => Some(Count),
        (Ratio, Operator::Times, Ratio) => Some(Ratio),
        _ => None,
    }
}
