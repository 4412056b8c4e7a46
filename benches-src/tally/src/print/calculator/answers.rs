//! What follows from a calculator's formulas: each output of a case, whether it keeps to its bound, and the answer.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use super::*;

impl Calculator {
    /// The calculator of the chapter that has one.
    pub fn load(project: &Project) -> Result<Self> {
        let path = project.calculator()?.context("no chapter has a calculator.toml")?;
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let data: Self = toml::from_str(&text).with_context(|| format!("in {}", path.display()))?;
        let folder = path.parent().and_then(Path::file_name).context("a calculator lies in its chapter's folder")?;
        Ok(Self { chapter: folder.to_string_lossy().into_owned(), ..data })
    }

    /// Everything that is wrong with it, each in a sentence.
    pub fn wrong(&self, view: &View) -> Vec<String> {
        let options = self.inputs.iter().flat_map(|input| input.options.iter().map(move |option| (input, option)));
        let options = options.filter_map(|(input, option)| {
            let error = option_is_answered(view, option).err()?;
            Some(format!("input {}, option {}: {error:#}", input.name, option.name))
        });
        let sizes = self.settings.iter().filter_map(|setting| Some(format!("{:#}", setting.size().err()?)));
        let outputs = self.outputs.iter().filter_map(|output| {
            let error = self.output_is_sound(output).err()?;
            Some(format!("output {}: {error:#}", output.name))
        });
        let cases = self.cases.iter().filter_map(|case| {
            let error = self.case_is_sound(case).err()?;
            Some(format!("case {:?}: {error:#}", case.name))
        });
        let none = self.cases.is_empty().then(|| "it has no case".to_owned());
        options.chain(sizes).chain(outputs).chain(cases).chain(none).collect()
    }

    pub(super) fn output_is_sound(&self, output: &Output) -> Result<()> {
        let (input, expression) = (self.input_of(output)?, output.expression()?);
        // Else the ends of an interval would change places on their way through it.
        for case in &self.cases {
            let at = |value| self.number(case, &expression, Some((&input.name, value)));
            ensure!(at(1.0)? < at(2.0)?, "{:?} does not grow with {}", output.formula, input.name);
        }
        let Some(bound) = &output.bound else { return Ok(()) };
        let formula = Expression::parse(&bound.formula)?;
        let is_set = |name: &str| self.settings.iter().any(|setting| setting.name == name);
        match formula.leaves().iter().find(|leaf| !is_set(&leaf.name)) {
            Some(leaf) => bail!("its bound is of settings alone, and {leaf} is none"),
            None => Ok(()),
        }
    }

    pub(super) fn case_is_sound(&self, case: &Case) -> Result<()> {
        for setting in &self.settings {
            let value = self.set(case, setting)?;
            let near = |step: &f64| (step / value - 1.0).abs() < 1e-9;
            ensure!(setting.steps().iter().any(near), "the slider of {} has no step at {value}", setting.name);
        }
        for input in &self.inputs {
            self.chosen(case, input)?;
        }
        let is_known = |name: &str| {
            self.settings.iter().any(|setting| setting.name == name)
                || self.inputs.iter().any(|input| input.name == name && input.options.len() > 1)
        };
        match case.values.keys().find(|name| !is_known(name)) {
            Some(unknown) => bail!("there is nothing to set that is called {unknown}"),
            None => Ok(()),
        }
    }

    /// The one input of an output's formula.
    pub fn input_of(&self, output: &Output) -> Result<&Input> {
        let expression = output.expression()?;
        let mut found = Vec::new();
        for leaf in expression.leaves() {
            let is_plain = leaf.conditions.is_empty() && leaf.measure == "elapsed";
            let input = self.inputs.iter().find(|input| input.name == leaf.name);
            let is_set = self.settings.iter().any(|setting| setting.name == leaf.name);
            ensure!(is_plain && (input.is_some() || is_set), "unknown name {leaf} in {:?}", output.formula);
            found.extend(input);
        }
        match found[..] {
            [one] => Ok(one),
            _ => bail!("{:?} has {} inputs in it; it must have one, once", output.formula, found.len()),
        }
    }

    /// A case's number of a setting, in the setting's unit.
    pub fn set(&self, case: &Case, setting: &Setting) -> Result<f64> {
        let value = case.values.get(&setting.name).with_context(|| format!("{} is not set", setting.name))?;
        let number = value.as_float().or_else(|| value.as_integer().map(|integer| integer as f64));
        let number = number.with_context(|| format!("{} is no number: {value}", setting.name))?;
        ensure!(number.is_finite() && number > 0.0, "{} must be above 0, and is {number}", setting.name);
        Ok(number)
    }

    /// What an input stands for in a case.
    pub fn chosen<'a>(&self, case: &Case, input: &'a Input) -> Result<&'a Choice> {
        if let [only] = &input.options[..] {
            return Ok(only);
        }
        let word = case.values.get(&input.name).and_then(toml::Value::as_str).unwrap_or_default();
        input.options.iter().find(|option| option.name == word).with_context(|| {
            let known: Vec<&str> = input.options.iter().map(|option| option.name.as_str()).collect();
            format!("{} cannot be {word:?}; there are: {}", input.name, known.join(", "))
        })
    }

    /// An output's number in a case.
    pub fn compute(&self, view: &View, case: &Case, output: &Output, who: Who) -> Result<Value> {
        let input = self.input_of(output)?;
        match self.chosen(case, input)?.value(view, who)? {
            Err(missing) => Ok(Err(missing)),
            Ok(estimate) => Ok(Ok(self.apply(case, &output.expression()?, &input.name, estimate)?)),
        }
    }

    /// A formula on an estimate of its input.
    pub(super) fn apply(&self, case: &Case, formula: &Expression, input: &str, estimate: Estimate) -> Result<Estimate> {
        let at = |value: f64| self.number(case, formula, Some((input, value)));
        let interval = match estimate.interval {
            Some((low, high)) => Some((at(low)?, at(high)?)),
            None => None,
        };
        Ok(Estimate { median: at(estimate.median)?, interval, rounds: estimate.rounds })
    }

    /// A formula's number, where the input is this.
    fn number(&self, case: &Case, formula: &Expression, input: Option<(&str, f64)>) -> Result<f64> {
        Ok(match formula {
            Expression::Number(number) => *number,
            Expression::Leaf(leaf) => match input {
                Some((name, value)) if leaf.name == name => value,
                _ => {
                    let setting = self.settings.iter().find(|setting| setting.name == leaf.name);
                    let setting = setting.with_context(|| format!("unknown name {leaf}"))?;
                    self.set(case, setting)? * setting.size()?
                }
            },
            Expression::Binary(a, operator, b) => {
                operator.apply(self.number(case, a, input)?, self.number(case, b, input)?)
            }
            Expression::In(_, formula) => self.number(case, formula, input)?,
        })
    }

    /// Whether a number keeps to its output's bound; nothing where it has none.
    pub fn keeps(&self, case: &Case, output: &Output, value: &Estimate) -> Result<Option<Kept>> {
        let Some(bound) = &output.bound else { return Ok(None) };
        let limit = self.number(case, &Expression::parse(&bound.formula)?, None)?;
        let Some((low, high)) = value.interval else { return Ok(Some(Kept::Undecided)) };
        Ok(Some(match bound.at {
            At::Most if high <= limit => Kept::Kept,
            At::Most if low > limit => Kept::Broken,
            At::Least if low >= limit => Kept::Kept,
            At::Least if high < limit => Kept::Broken,
            _ => Kept::Undecided,
        }))
    }

    /// Whether a thread per connection would do.
    pub fn answer(&self, view: &View, case: &Case) -> Result<Answer> {
        let (mut broken, mut undecided, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for output in &self.outputs {
            let Some(bound) = &output.bound else { continue };
            let objection = bound.objection.clone();
            // The first is the thread's, or what it takes beyond a task.
            match self.compute(view, case, output, output.whose()[0])? {
                Err(missing) => unknown.push(format!("{objection} ({})", missing.word)),
                Ok(value) => match self.keeps(case, output, &value)? {
                    Some(Kept::Broken) => broken.push(objection),
                    Some(Kept::Undecided) => undecided.push(objection),
                    Some(Kept::Kept) | None => {}
                },
            }
        }
        Ok(match (broken.is_empty(), unknown.is_empty(), undecided.is_empty()) {
            (false, _, _) => Answer::No(broken),
            (_, false, _) => Answer::Unknown(unknown),
            (_, _, false) => Answer::Undecided(undecided),
            _ => Answer::Yes,
        })
    }

    /// A formula in a reader's words.
    pub fn spoken(&self, formula: &str) -> Result<String> {
        Ok(self.speak(&Expression::parse(formula)?))
    }

    fn speak(&self, formula: &Expression) -> String {
        match formula {
            Expression::Number(number) => number.to_string(),
            Expression::Leaf(leaf) => {
                let setting = self.settings.iter().find(|setting| setting.name == leaf.name);
                let input = self.inputs.iter().find(|input| input.name == leaf.name);
                let label = setting.map(Setting::short).or(input.map(|input| input.label.as_str()));
                label.unwrap_or(&leaf.name).to_owned()
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

fn option_is_answered(view: &View, option: &Choice) -> Result<()> {
    option.asked(&view.plans, Who::Extra).map(drop)
}
