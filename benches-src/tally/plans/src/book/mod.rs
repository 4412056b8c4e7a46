//! What was asked: programs, experiments and their cells, expressions, quantities, claims,
//! published figures, directives.

pub mod allocator;
pub mod answer;
pub mod cell;
pub mod claim;
pub mod count;
pub mod directive;
pub mod excerpt;
pub mod experiment;
pub mod expression;
pub mod grid;
pub mod measure;
pub mod neighbour;
pub mod order;
pub mod places;
pub mod plan;
pub mod plan_file;
pub mod programs;
pub mod published;
pub mod quantities;
pub mod reading;
pub mod renamed;
pub mod scatter;
pub mod sentences;
pub mod takeaways;
pub mod unit;
pub mod verdict;
pub mod words;
