//! Cells that are called otherwise than when older records were measured, since a listing was taken
//! apart. Records keep the names under which they were measured; whoever asks for a cell by today's
//! name gets those.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow, bail, ensure};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::cell::Cell;
use super::expression::Expression;

/// What cells of an experiment were called, and what they are called now.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Renamed {
    /// The program then, with the parameters that went away with the name: `"cost-tls[what=record,
    /// side=both]"`.
    pub was: Called,
    /// The program now, with the parameters that came with the name: `"cost-tls-record"`.
    pub is: Called,
}

/// A program with some of its parameters.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct Called {
    program: String,
    parameters: BTreeMap<String, Value>,
}

impl TryFrom<String> for Called {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Self> {
        let Expression::Leaf(selector) = Expression::parse(&text)? else {
            bail!("{text:?} is no program with parameters in brackets");
        };
        let parameter = |(name, value): (Option<String>, String)| {
            let name = name.ok_or_else(|| anyhow!("{value:?} in {text:?} is no parameter; leave it out"))?;
            Ok((name, value.parse::<u64>().map_or(Value::from(value), Value::from)))
        };
        let parameters = selector.conditions.into_iter().map(parameter).collect::<Result<_>>()?;
        Ok(Self { program: selector.name, parameters })
    }
}

impl Called {
    fn is(&self, cell: &Cell) -> bool {
        let has = |(name, value): (&String, &Value)| cell.parameters.get(name) == Some(value);
        cell.program == self.program && self.parameters.iter().all(has)
    }

    /// The same cell under this name instead of another.
    fn instead_of(&self, other: &Self, cell: &Cell) -> Cell {
        let mut parameters = cell.parameters.clone();
        parameters.retain(|name, _| !other.parameters.contains_key(name));
        parameters.extend(self.parameters.clone());
        Cell { program: self.program.clone(), parameters, ..cell.clone() }
    }
}

/// What a cell of a record is called now; as it was, where it was not renamed.
pub fn now(renamed: &[Renamed], cell: &Cell) -> Cell {
    let mut cell = cell.clone();
    call(renamed, std::slice::from_mut(&mut cell));
    cell
}

/// Has cells of a record called as they are now.
pub fn call(renamed: &[Renamed], cells: &mut [Cell]) {
    for cell in cells {
        if let Some(own) = renamed.iter().find(|own| own.was.is(cell)) {
            *cell = own.is.instead_of(&own.was, cell);
        }
    }
}

/// What a cell was called in records.
pub fn then(renamed: &[Renamed], cell: &Cell) -> Cell {
    let own = renamed.iter().find(|own| own.is.is(cell));
    own.map_or_else(|| cell.clone(), |own| own.was.instead_of(&own.is, cell))
}

/// Each name must have gone, and each that took its place must be there.
pub fn check(renamed: &[Renamed], cells: &[Cell]) -> Result<()> {
    for Renamed { was, is } in renamed {
        let kept = cells.iter().find(|cell| was.is(cell));
        ensure!(kept.is_none(), "renamed: {} is still called so", kept.map_or_else(String::new, Cell::to_string));
        ensure!(
            cells.iter().any(|cell| is.is(cell)),
            "renamed: no cell is called {} with these parameters",
            is.program
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(program: &str, parameters: &[(&str, Value)]) -> Cell {
        Cell {
            program: program.to_owned(),
            parameters: parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            placement: "one-cpu".to_owned(),
            condition: Some("twin".to_owned()),
        }
    }

    fn renamed(was: &str, is: &str) -> Renamed {
        let called = |text: &str| Called::try_from(text.to_owned()).unwrap();
        Renamed { was: called(was), is: called(is) }
    }

    #[test]
    fn a_cell_is_found_by_the_other_name_and_all_else_of_it_stays() {
        let own = [
            renamed("json[what=parse]", "json-read"),
            renamed("ring[chains=1]", "ring"),
            renamed("ring[chains=32]", "rings[chains=32]"),
        ];
        let pairs = [
            (
                cell("json", &[("what", "parse".into()), ("bytes", 500.into())]),
                cell("json-read", &[("bytes", 500.into())]),
            ),
            (cell("ring", &[("chains", 1.into()), ("hops", 4.into())]), cell("ring", &[("hops", 4.into())])),
            (cell("ring", &[("chains", 32.into())]), cell("rings", &[("chains", 32.into())])),
            (cell("other", &[("chains", 32.into())]), cell("other", &[("chains", 32.into())])),
        ];
        for (was, is) in &pairs {
            assert_eq!(now(&own, was), *is);
            assert_eq!(then(&own, is), *was);
            assert_eq!(now(&own, is), *is, "what is called so today stays");
        }
        let cells: Vec<Cell> = pairs.into_iter().map(|(_, is)| is).collect();
        check(&own, &cells).unwrap();
        assert!(check(&own, &cells[1..]).unwrap_err().to_string().contains("no cell is called json-read"));
        let kept = [&cells[..], &[cell("ring", &[("chains", 1.into())])]].concat();
        assert!(check(&own, &kept).unwrap_err().to_string().contains("still called so"));
    }

    #[test]
    fn what_is_no_program_with_parameters_is_refused() {
        for text in ["a + b", "a[one-cpu]", "", "a["] {
            assert!(Called::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
