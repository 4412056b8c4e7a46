//! Formulas: read from data, read aloud, and handed on to the page's script.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value as Json, json};

use super::Calculator;
use crate::book::expression::{Expression, Operator};

/// Arithmetic on the names of settings, of what is derived from them, and of inputs.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Formula {
    pub text: String,
    pub expression: Expression,
}

impl TryFrom<String> for Formula {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let expression = Expression::parse(&text).map_err(|error| format!("{error:#}"))?;
        Ok(Self { text, expression })
    }
}

/// For a script that has no parser: numbers and names as they are, all else as `[sign, left,
/// right]`.
impl Serialize for Formula {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn tree(expression: &Expression) -> Json {
            match expression {
                Expression::Number(number) => json!(number),
                Expression::Leaf(leaf) => json!(leaf.name),
                Expression::Binary(a, operator, b) => json!([operator.sign(), tree(a), tree(b)]),
                Expression::In(_, formula) => tree(formula),
            }
        }
        tree(&self.expression).serialize(serializer)
    }
}

impl Calculator {
    /// A formula in a reader's words.
    pub fn spoken(&self, formula: &Formula) -> String {
        self.speak(&formula.expression)
    }

    fn speak(&self, formula: &Expression) -> String {
        match formula {
            Expression::Number(number) => number.to_string(),
            Expression::Leaf(leaf) => {
                let settings = self.settings.iter().map(|setting| (&setting.name, &setting.label));
                let derived = self.derived.iter().map(|derived| (&derived.name, &derived.label));
                let inputs = self.inputs.iter().map(|input| (&input.name, &input.label));
                let found = settings.chain(derived).chain(inputs).find(|(name, _)| **name == leaf.name);
                found.map_or(&leaf.name, |(_, label)| label).clone()
            }
            Expression::Binary(a, operator, b) => {
                let (sign, left, right) = match operator {
                    Operator::Plus => ('+', 0, 0),
                    Operator::Minus => ('−', 0, 1),
                    Operator::Times => ('×', 1, 1),
                    Operator::Over => ('/', 1, 2),
                };
                format!("{} {sign} {}", self.bracketed(a, left), self.bracketed(b, right))
            }
            Expression::In(_, formula) => self.speak(formula),
        }
    }

    /// In brackets, where it binds less than its place asks for: sums 0, products 1, all else 2.
    fn bracketed(&self, formula: &Expression, place: u8) -> String {
        let binds = match formula {
            Expression::Binary(_, Operator::Plus | Operator::Minus, _) => 0,
            Expression::Binary(..) => 1,
            Expression::In(_, formula) => return self.bracketed(formula, place),
            _ => 2,
        };
        let text = self.speak(formula);
        if binds < place { format!("({text})") } else { text }
    }
}
