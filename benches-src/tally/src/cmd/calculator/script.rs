//! What the page's script computes from: the same data, and the numbers of this machine.

use anyhow::Result;
use serde_json::{Value as Json, json};

use super::{Printer, value_json};
use crate::print::calculator::{Choice, Input, Who, answers};
use crate::print::escape;

impl Printer<'_> {
    /// As a part of the page, since one that was opened from a folder cannot fetch.
    pub(super) fn script(&self) -> Result<String> {
        let data = self.data;
        let inputs: Vec<Json> = data.inputs.iter().map(|input| self.input(input)).collect();
        let json = json!({
            "settings": data.settings, "derived": data.derived, "inputs": inputs, "bounds": data.bounds,
            "outputs": data.outputs, "sentences": data.sentences, "cases": self.cases,
        });
        Ok(format!("<script type=\"application/json\" id=\"calculator-data\">{}</script>\n", escape::json(&json)))
    }

    fn input(&self, input: &Input) -> Json {
        let option = |option: &Choice| {
            let mut object = json!({ "at": option.at });
            for who in [Who::Thread, Who::Task, Who::Extra] {
                let value = self.numbers.value(input, option, who);
                object[who.word()] = value_json(value);
                object[who.word()]["unknown"] = answers::unknown(input, value).into();
            }
            object
        };
        let options: Vec<_> = input.reachable().map(option).collect();
        json!({ "name": input.name, "label": input.label, "along": input.along, "options": options })
    }
}
