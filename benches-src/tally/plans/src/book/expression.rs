//! Quantities are written as arithmetic on cells, the same way in plans and in directives:
//!
//! ```text
//! thread-socket[one-cpu]
//! task-socket[free, runtime=current] / task-socket[free, runtime=multi]
//! (thread-socket[one-cpu] - loop-socket[one-cpu]) / (task-socket[one-cpu] - loop-socket[one-cpu])
//! thread-socket[one-cpu].voluntary_switches
//! thread-socket[one-cpu] + thread-socket[free].migrations * 2
//! thread-socket[free, spinners] / thread-socket[free]
//! task-socket[one-cpu].calls_recvfrom
//! ```
//!
//! A minus stands between spaces, since names have hyphens. What a cell leaves out must not be
//! needed to tell it apart.

use std::fmt;

use anyhow::{Result, bail, ensure};

use crate::book::count::Count;
use crate::book::unit::Unit;

/// Arithmetic on cells and numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    Number(f64),
    Leaf(Selector),
    Binary(Box<Expression>, Operator, Box<Expression>),
    /// What a name stands for, which says its unit.
    In(Unit, Box<Expression>),
}

/// Time, where nothing else is asked for.
pub const ELAPSED: &str = "elapsed";

/// So many signs and brackets an expression may have. The longest of this book has fewer than 40.
const MOST_PARTS: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Plus,
    Minus,
    /// Their product: so much of something per operation, at so much each.
    Times,
    Over,
}

impl Operator {
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Operator::Plus => a + b,
            Operator::Minus => a - b,
            Operator::Times => a * b,
            Operator::Over => a / b,
        }
    }

    pub fn sign(self) -> char {
        match self {
            Operator::Plus => '+',
            Operator::Minus => '-',
            Operator::Times => '*',
            Operator::Over => '/',
        }
    }
}

/// Which cell, and which of its measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Selector {
    /// A program, or the id of a published figure.
    pub name: String,
    /// `name=value` pairs, and bare words: a placement or a condition.
    pub conditions: Vec<(Option<String>, String)>,
    /// `elapsed` where nothing else is asked for; a counter, a named result, `quantile_0.99` of
    /// single laps, or what an experiment [counts](Count).
    pub measure: String,
}

impl Expression {
    pub fn parse(text: &str) -> Result<Self> {
        // What is evaluated calls itself for each part within another, and a stack has an end.
        let parts = text.matches(['(', '+', '*', '/']).count() + text.matches(" - ").count();
        ensure!(parts <= MOST_PARTS, "an expression of {parts} parts; at most {MOST_PARTS} are read");
        let mut parser = Parser { text, rest: text };
        let expression = parser.sums()?;
        ensure!(parser.peek().is_none(), "{}", parser.unexpected("the end"));
        Ok(expression)
    }

    pub fn binary(a: Self, operator: Operator, b: Self) -> Self {
        Expression::Binary(Box::new(a), operator, Box::new(b))
    }

    /// What a name stands for, and any other as it is.
    pub fn formula(&self) -> &Self {
        match self {
            Expression::In(_, formula) => formula.formula(),
            own => own,
        }
    }

    /// Every cell that it needs.
    pub fn leaves(&self) -> Vec<&Selector> {
        match self {
            Expression::Number(_) => Vec::new(),
            Expression::Leaf(selector) => vec![selector],
            Expression::Binary(a, _, b) => [a.leaves(), b.leaves()].concat(),
            Expression::In(_, formula) => formula.leaves(),
        }
    }

    /// The same with this placement wherever none is named.
    pub fn with_placement(self, placement: &str) -> Self {
        match self {
            Expression::Leaf(mut selector) if selector.placement().is_none() => {
                selector.conditions.push((None, placement.to_owned()));
                Expression::Leaf(selector)
            }
            Expression::Binary(a, operator, b) => {
                Self::binary(a.with_placement(placement), operator, b.with_placement(placement))
            }
            Expression::In(unit, formula) => Expression::In(unit, Box::new(formula.with_placement(placement))),
            unchanged => unchanged,
        }
    }
}

impl Selector {
    fn placement(&self) -> Option<&str> {
        self.words().find(|word| crate::book::cell::PLACEMENTS.contains(word))
    }

    /// The condition that it asks for, the second arm of an A/A pair among them.
    pub fn condition(&self) -> Option<&str> {
        self.words().find(|word| *word == crate::book::cell::TWIN || crate::book::cell::CONDITIONS.contains(word))
    }

    /// Whether it is a name and nothing else.
    pub fn is_bare(&self) -> bool {
        self.conditions.is_empty() && self.measure == ELAPSED
    }

    /// Whether it says a value of this parameter.
    pub fn names(&self, parameter: &str) -> bool {
        self.conditions.iter().any(|(name, _)| name.as_deref() == Some(parameter))
    }

    /// What must have been counted to answer it.
    pub fn count(&self) -> Option<Count> {
        Count::named(&self.measure)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().filter(|(name, _)| name.is_none()).map(|(_, word)| word.as_str())
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if !self.conditions.is_empty() {
            let words = self.conditions.iter().map(|(name, value)| match name {
                Some(name) => format!("{name}={value}"),
                None => value.clone(),
            });
            write!(f, "[{}]", words.collect::<Vec<_>>().join(", "))?;
        }
        if self.measure != ELAPSED {
            write!(f, ".{}", self.measure)?;
        }
        Ok(())
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Number(number) => write!(f, "{number}"),
            Expression::Leaf(selector) => write!(f, "{selector}"),
            Expression::Binary(a, operator, b) => write!(f, "({a} {} {b})", operator.sign()),
            Expression::In(_, formula) => write!(f, "{formula}"),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
}

impl Parser<'_> {
    fn sums(&mut self) -> Result<Expression> {
        self.chain(&[Operator::Plus, Operator::Minus], Self::products)
    }

    fn products(&mut self) -> Result<Expression> {
        self.chain(&[Operator::Times, Operator::Over], Self::operand)
    }

    fn chain(&mut self, operators: &[Operator], next: fn(&mut Self) -> Result<Expression>) -> Result<Expression> {
        let mut left = next(self)?;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator.sign())) {
            left = Expression::binary(left, *operator, next(self)?);
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expression> {
        match self.peek() {
            Some('(') => {
                self.take('(');
                let inside = self.sums()?;
                self.expect(')')?;
                Ok(inside)
            }
            Some(c) if c.is_ascii_digit() => {
                let number = self.word(|c| c.is_ascii_digit() || c == '.');
                Ok(Expression::Number(number.parse()?))
            }
            Some(c) if c.is_ascii_lowercase() => Ok(Expression::Leaf(self.selector()?)),
            _ => bail!("{}", self.unexpected("a program, a number or (")),
        }
    }

    fn selector(&mut self) -> Result<Selector> {
        let name = self.word(is_name);
        let mut conditions = Vec::new();
        if self.take('[') {
            while self.peek() != Some(']') {
                let word = self.word(is_name);
                ensure!(!word.is_empty(), "{}", self.unexpected("a placement or name=value"));
                if self.take('=') {
                    conditions.push((Some(word), self.word(is_name)));
                } else {
                    conditions.push((None, word));
                }
                if !self.take(',') {
                    break;
                }
            }
            self.expect(']')?;
        }
        let measure = if self.rest.starts_with('.') {
            self.rest = &self.rest[1..];
            self.word(|c| is_name(c) || c == '.')
        } else {
            ELAPSED.to_owned()
        };
        Ok(Selector { name, conditions, measure })
    }

    fn word(&mut self, belongs: fn(char) -> bool) -> String {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn peek(&self) -> Option<char> {
        self.rest.trim_start().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.rest = &self.rest.trim_start()[wanted.len_utf8()..];
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Result<()> {
        ensure!(self.take(wanted), "{}", self.unexpected(&format!("{wanted:?}")));
        Ok(())
    }

    fn unexpected(&self, wanted: &str) -> String {
        let place = self.text.len() - self.rest.trim_start().len();
        format!("expected {wanted} at character {} of {:?}", place + 1, self.text)
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(text: &str) -> String {
        Expression::parse(text).unwrap().to_string()
    }

    #[test]
    fn names_have_hyphens_and_a_minus_stands_between_spaces() {
        assert_eq!(written("a-b - c-d"), "(a-b - c-d)");
        assert_eq!(written("a - b / c"), "(a - (b / c))");
        assert_eq!(written("(a - b)/(c-d - 1.5)"), "((a - b) / (c-d - 1.5))");
        assert_eq!(written("a / b / c"), "((a / b) / c)");
        assert_eq!(written("a + b * c - d"), "((a + (b * c)) - d)");
    }

    #[test]
    fn a_selector_names_placement_parameters_and_measure() {
        let text = "task-socket[free, runtime=multi, hops=500].voluntary_switches";
        assert_eq!(written(text), text);
        assert_eq!(written("a[ free ]"), "a[free]");
    }

    #[test]
    fn errors_say_where() {
        for (text, wanted) in [
            ("", "character 1"),
            ("a b", "the end at character 3"),
            ("(a", "')' at character 3"),
            ("a[", "a placement or name=value at character 3"),
        ] {
            let error = Expression::parse(text).unwrap_err().to_string();
            assert!(error.contains(wanted), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_placement_goes_where_none_is_named() {
        let placed = Expression::parse("a / b[free]").unwrap().with_placement("one-cpu");
        assert_eq!(placed.to_string(), "(a[one-cpu] / b[free])");
    }

    fn selectors() -> impl Strategy<Value = Selector> {
        let conditions = prop::collection::vec((prop::option::of("[a-z_]{1,5}"), "[A-Za-z0-9_-]{1,5}"), 0..3);
        let measures = prop_oneof![Just("elapsed".to_owned()), "[a-z]{1,5}(_0\\.[0-9]{1,3})?"];
        let parts = ("[a-z][a-z0-9_-]{0,6}", conditions, measures);
        parts.prop_map(|(name, conditions, measure)| Selector { name, conditions, measure })
    }

    fn expressions() -> impl Strategy<Value = Expression> {
        let numbers = (0.0..1e9f64).prop_map(Expression::Number);
        let leaves = prop_oneof![numbers, selectors().prop_map(Expression::Leaf)];
        leaves.prop_recursive(4, 16, 2, |inner| {
            let all = [Operator::Plus, Operator::Minus, Operator::Times, Operator::Over];
            let operator = prop::sample::select(all.to_vec());
            (inner.clone(), operator, inner).prop_map(|(a, operator, b)| Expression::binary(a, operator, b))
        })
    }

    proptest! {
        #[test]
        fn an_expression_is_read_as_it_was_written(expression in expressions()) {
            prop_assert_eq!(Expression::parse(&expression.to_string()).unwrap(), expression);
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            drop(Expression::parse(&text));
        }
    }
}
