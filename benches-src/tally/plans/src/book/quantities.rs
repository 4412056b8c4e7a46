//! Numbers with a name: which experiment measures them, and how they are computed, said once.
//! Pages, captions, claims and the calculator say the name. Where an expression is written instead,
//! exactly one experiment answers it, or the one that is named beside it.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::plan::{Plan, Plans};
use crate::book::plan_file;
use crate::book::unit::Unit;
use crate::name::{self, nearest};
use crate::project::Project;
use crate::remembered::remembered;

/// Numbers with a name, which pages, captions, claims and takeaways say.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quantities {
    /// The numbers, each a table `[[quantity]]`.
    #[serde(default, rename = "quantity")]
    quantities: Vec<Named>,
}

/// A number with a name.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(rename = "Quantity")]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// What it is called, unlike any program: lower-case words with hyphens, such as
    /// `"thread-pipe-hop"`.
    pub name: String,
    /// The experiment whose record it stands on.
    pub experiment: String,
    /// What it counts: `"ns"`, `"B"`, `"count"` or `"ratio"`. Its formula has to come to that.
    pub unit: Unit,
    /// Arithmetic on that experiment's cells, and on other quantities of it: `"thread-pipe[free] -
    /// loop-pipe[free]"`.
    pub formula: String,
}

/// What is asked for: where it is measured, and how it is computed.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The chapter.
    pub plan: &'a Plan,
    /// The experiment.
    pub experiment: &'a Experiment,
    /// With every name spelled out.
    pub expression: Expression,
}

impl Asked<'_> {
    /// The programs whose numbers it is computed from.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.expression.leaves().into_iter().map(|leaf| leaf.name.as_str())
    }
}

/// Those of a chapter; none where it has no file of them.
pub fn load(project: &Project, chapter: &str) -> Result<Vec<Named>> {
    let path = project.quantities(chapter);
    let file: Quantities = plan_file::read_if_any(project, &path)?;
    for quantity in &file.quantities {
        name::check(&quantity.name, "a quantity").with_context(|| project.place(&path))?;
    }
    Ok(file.quantities)
}

impl Plans {
    /// Every quantity that has a name.
    pub fn quantities(&self) -> impl Iterator<Item = &Named> {
        self.all.iter().flat_map(|plan| &plan.quantities)
    }

    fn quantity(&self, name: &str) -> Option<&Named> {
        self.quantities().find(|quantity| quantity.name == name)
    }

    /// The unit of a quantity that has a name, and can be asked for.
    pub fn unit(&self, name: &str) -> Result<Unit> {
        self.asked(name, None)?;
        Ok(self.quantity(name).with_context(|| format!("{name:?} is no quantity with a name"))?.unit)
    }

    /// Names are names of one thing, and every formula is answered by the experiment beside it.
    pub fn check_quantities(&self) -> Vec<String> {
        let programs: BTreeSet<&str> = self.experiments().flat_map(|(_, experiment)| experiment.programs()).collect();
        let mut taken = programs;
        let mut wrong = Vec::new();
        for quantity in self.quantities() {
            let name = &quantity.name;
            if !taken.insert(name) {
                wrong.push(format!("quantity {name}: a program or another quantity has this name already"));
            } else if let Err(error) = self.asked(name, None) {
                wrong.push(format!("quantity {name}: {error:#}"));
            }
        }
        wrong
    }

    /// What a text asks for: a name, or an expression in which names may stand. `within` is the
    /// experiment that is named beside it.
    pub fn asked(&self, text: &str, within: Option<&str>) -> Result<Asked<'_>> {
        let key = (text.to_owned(), within.map(str::to_owned));
        let (experiment, expression) = remembered(&self.asked, key, || {
            let asked = self.ask(Expression::parse(text)?, within)?;
            Ok((asked.experiment.name.clone(), asked.expression))
        })?;
        let (plan, experiment) = self.experiment(&experiment)?;
        Ok(Asked { plan, experiment, expression })
    }

    /// The same of an expression.
    pub fn ask(&self, expression: Expression, within: Option<&str>) -> Result<Asked<'_>> {
        let mut experiments = BTreeSet::new();
        let expression = self.spelled_out(expression, &mut Vec::new(), &mut experiments)?;
        experiments.extend(within);
        let experiments: Vec<&str> = experiments.into_iter().collect();
        let (plan, experiment) = match experiments[..] {
            [] => self.one_that_answers(&expression)?,
            [one] => {
                let (plan, experiment) = self.experiment(one)?;
                self.programs_are_known(&expression)?;
                experiment.answers(&expression)?;
                (plan, experiment)
            }
            _ => bail!(
                "{expression} would be of several sessions, {}: rivals are compared within one",
                experiments.join(" and ")
            ),
        };
        Ok(Asked { plan, experiment, expression })
    }

    /// The same inside the words of an experiment: its own where it answers, and else as anywhere.
    pub fn asked_in(&self, own: &Experiment, text: &str) -> Result<Asked<'_>> {
        let expression = Expression::parse(text)?;
        let spelled = self.spelled_out(expression.clone(), &mut Vec::new(), &mut BTreeSet::new())?;
        let named = expression.leaves().into_iter().any(|leaf| self.quantity(&leaf.name).is_some());
        let within = (!named && own.answers(&spelled).is_ok()).then_some(own.name.as_str());
        self.ask(expression, within)
    }

    /// The expression with formulas in the places of names, and the experiments that these are of.
    fn spelled_out<'a>(
        &'a self,
        expression: Expression,
        within: &mut Vec<&'a str>,
        experiments: &mut BTreeSet<&'a str>,
    ) -> Result<Expression> {
        Ok(match expression {
            Expression::Leaf(leaf) => match self.quantity(&leaf.name) {
                None => Expression::Leaf(leaf),
                Some(named) => {
                    ensure!(leaf.is_bare(), "{leaf}: {} is a quantity, and has neither cells nor measures", leaf.name);
                    ensure!(!within.contains(&named.name.as_str()), "{} stands in its own formula", named.name);
                    within.push(&named.name);
                    experiments.insert(&named.experiment);
                    let formula = Expression::parse(&named.formula).with_context(|| format!("in {}", named.name))?;
                    let spelled = self.spelled_out(formula, within, experiments)?;
                    within.pop();
                    Expression::In(named.unit, Box::new(spelled))
                }
            },
            Expression::Binary(a, operator, b) => Expression::binary(
                self.spelled_out(*a, within, experiments)?,
                operator,
                self.spelled_out(*b, within, experiments)?,
            ),
            number => number,
        })
    }

    fn programs_are_known(&self, expression: &Expression) -> Result<()> {
        for leaf in expression.leaves() {
            let Err(error) = self.chapter_of(&leaf.name) else { continue };
            let programs = self.experiments().flat_map(|(_, experiment)| experiment.programs());
            let known = programs.chain(self.quantities().map(|quantity| quantity.name.as_str()));
            return match nearest(&leaf.name, known) {
                Some(nearest) => Err(error.context(format!("did you mean {nearest}?"))),
                None => Err(error),
            };
        }
        Ok(())
    }

    /// The one experiment that has every cell of an expression and measures what it asks.
    fn one_that_answers(&self, expression: &Expression) -> Result<(&Plan, &Experiment)> {
        self.programs_are_known(expression)?;
        let (mut answering, mut first_error) = (Vec::new(), None);
        for (plan, experiment) in self.experiments().filter(|(_, own)| own.has_programs_of(expression)) {
            match experiment.answers(expression) {
                Ok(()) => answering.push((plan, experiment)),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        match answering[..] {
            [one] => Ok(one),
            [] => Err(first_error.unwrap_or_else(|| anyhow::anyhow!("no experiment has all programs of {expression}"))),
            _ => {
                let names: Vec<&str> = answering.iter().map(|(_, experiment)| experiment.name.as_str()).collect();
                bail!(
                    "{expression} is measured in several experiments: {}; say which, by --experiment",
                    names.join(", ")
                )
            }
        }
    }
}
