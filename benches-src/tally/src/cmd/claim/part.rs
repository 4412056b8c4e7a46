//! A part of a claim, judged.

use anyhow::{Context, Result, ensure};

use crate::book::claim::{Claim, Expected, Part};
use crate::book::expression::Expression;
use crate::book::published::{Kind, Published};
use crate::book::quantities::Asked;
use crate::book::unit::Unit;
use crate::book::verdict::Verdict;
use crate::compute::judging::{self, Expectation, Judgement};
use crate::compute::quantity::{Measured, Missing, Quantity, evaluate_published};
use crate::print::comparison::alone;
use crate::print::escape::html;
use crate::print::format;
use crate::print::render;
use crate::print::table::Cell;
use crate::print::view::View;
use crate::statistics::Estimate;

/// A part with what the data say.
pub struct JudgedPart<'a> {
    /// As the plan has it.
    pub part: &'a Part,
    /// Where it is measured, and how.
    pub asked: Asked<'a>,
    pub measured: Measured,
    pub expected: Expectation,
    /// What was published, where anything was.
    published: Option<(f64, Unit)>,
    /// What is said of it.
    pub judgement: Judgement,
    /// The same among fewer participants.
    beside: Option<(Asked<'a>, Measured)>,
}

impl<'a> JudgedPart<'a> {
    /// Judges a part, whose experiment is this one.
    pub fn new(view: &'a View, claim: &'a Claim, part: &'a Part, kind: Kind) -> Result<Self> {
        let asked = claim.asked(&view.plans, part)?;
        let measured = view.evaluate(&asked)?;
        let published = part.published.as_deref().map(Expression::parse).transpose()?;
        // What this book predicted is a number of its own.
        if let (Some(figure), Kind::Published) = (&published, kind) {
            ensure!(
                !figure.leaves().is_empty(),
                "part {:?}: what was published is a published figure, not a number of ours",
                part.name
            );
        }
        let is_plain = published.as_ref().is_some_and(|figure| figure.leaves().is_empty());
        let published = figure_of(&view.published, part)?;
        if let (Ok(Quantity { unit, .. }), Some((_, published))) = (&measured, published) {
            ensure!(
                is_plain || published.is_like(*unit),
                "part {:?}: published as {published:?}, measured as {unit:?}",
                part.name
            );
        }
        let expected = expected_of(&view.published, part)?;
        let judgement = judging::judge_figure(&measured, &expected, published.map(|(value, _)| value));
        let beside = match &part.beside {
            None => None,
            Some(name) => {
                let asked = view.plans.asked(name, None)?;
                let measured = view.evaluate(&asked)?;
                Some((asked, measured))
            }
        };
        Ok(Self { part, asked, measured, expected, published, judgement, beside })
    }

    /// What was published, for a person; a dash where nothing was.
    pub fn published(&self) -> String {
        self.published.map_or("–".to_owned(), |(value, _)| self.show(value))
    }

    /// What was published, as a plain number.
    pub fn published_value(&self) -> Option<f64> {
        self.published.map(|(value, _)| value)
    }

    /// What would agree, in words.
    pub fn agrees(&self) -> String {
        match self.expected {
            Expectation::Compared => "–".to_owned(),
            Expectation::AtLeast(low) => format!("at least {}", self.show(low)),
            Expectation::AtMost(high) => format!("at most {}", self.show(high)),
            Expectation::Equals(value) => format!("exactly {}", self.show(value)),
            Expectation::About { .. } | Expectation::Between(..) => {
                let (mut low, mut high) = self.expected.band().unwrap_or_default();
                // On the other side of no effect nothing agrees.
                if let Expectation::About { value, no_effect: Some(none), .. } = self.expected {
                    (low, high) = if value > none { (low.max(none), high) } else { (low, high.min(none)) };
                }
                format::range(&self.show(low), &self.show(high))
            }
        }
    }

    /// The smallest difference that could have been seen, and how near the next bound is, in a few
    /// words.
    pub fn could_tell(&self) -> String {
        let Some((quantity, resolution)) =
            self.known().and_then(|own| Some((own, judging::resolution(own, &self.expected)?)))
        else {
            return "–".to_owned();
        };
        let seen = if resolution == 0.0 { "exact".to_owned() } else { format!("±{}", format::percent(resolution)) };
        match judging::nearest_bound(quantity, &self.expected) {
            Some((bound, Some(beyond))) => {
                format!("{seen}; {} is {} beyond the interval", self.show(bound), format::percent(beyond))
            }
            Some((bound, None)) if resolution > 0.0 => format!("{seen}; {} is within the interval", self.show(bound)),
            _ => seen,
        }
    }

    /// What is said of a difference that is too small to be seen.
    pub fn too_close(&self) -> Option<String> {
        let own = self.known().filter(|_| self.judgement.verdict == Verdict::TooClose)?;
        let none = judging::no_difference(own.unit, &self.expected)?;
        let claimed = judging::claimed_difference(own.unit, &self.expected, self.published_value())?;
        let more = judging::claims_more(none, &self.expected, self.published_value());
        let claimed = match more {
            None => "no difference".to_owned(),
            Some(_) if claimed > 0.0 => format!("a difference of {}", format::percent(claimed)),
            Some(_) => "a difference of any size".to_owned(),
        };
        let median = own.estimate.median;
        let is_other_way = more.is_some_and(|more| more != (median > none));
        Some(format!(
            " For “{}” {claimed} is claimed, {}{} is found, and {} is the smallest that we could see here.",
            self.part.name,
            format::percent((median / none - 1.0).abs()),
            if is_other_way { " the other way" } else { "" },
            format::percent(judging::resolution(own, &self.expected)?)
        ))
    }

    /// How narrow the interval of an undecided part would have to be.
    pub fn would_decide(&self) -> Option<String> {
        let (within, now) = self.decided_within()?;
        let (within, now) = (format::percent(within), format::percent(now));
        let narrow = if within == now {
            format!("a little less than ±{now}")
        } else {
            format!("±{within} instead of ±{now}")
        };
        Some(format!("{narrow} for “{}”", self.part.name))
    }

    /// Whether the number of an undecided part lies so near a bound that it takes an interval of a
    /// quarter of the width, which is one of sixteen times as many rounds.
    pub fn is_at_bound(&self) -> bool {
        self.decided_within().is_some_and(|(within, now)| within * 4.0 < now)
    }

    /// How narrow the interval of an undecided part would have to be, and how wide it is.
    fn decided_within(&self) -> Option<(f64, f64)> {
        let own = self.known().filter(|_| self.judgement.verdict == Verdict::Undecided)?;
        Some((judging::decided_within(own, &self.expected)?, judging::resolution(own, &self.expected)?))
    }

    /// The verdict in words, with the side to which it is shifted.
    pub fn words(&self) -> String {
        in_words(self.judgement)
    }

    /// The number, leading to the table that it comes from.
    pub fn here(&self, view: &View) -> Result<String> {
        let here = alone(view, &self.asked, &self.measured)?;
        Ok(match &self.beside {
            None => here,
            Some((asked, measured)) => {
                let (among, beside) = (html(&self.among_100(measured)), alone(view, asked, measured)?);
                format!("{here}<br><span class=\"legend\">{among}: {beside}</span>")
            }
        })
    }

    /// Among how many the number beside it is, and what would be said there, where that is
    /// something else.
    fn among_100(&self, beside: &Measured) -> String {
        let other = judging::judge_figure(beside, &self.expected, self.published_value()).verdict;
        match other {
            Verdict::NotMeasured => "among 100".to_owned(),
            _ if other == self.judgement.verdict => "among 100".to_owned(),
            _ => format!("among 100, where it {}", other.said_of(1)),
        }
    }

    /// Its cells in the claim's own table.
    pub fn cells(&self, view: &View) -> Result<[Cell; 5]> {
        let [published, agrees, gap, verdict] =
            [self.published(), self.agrees(), self.could_tell(), self.words()].map(|own| Cell::text(&own));
        Ok([published, agrees, Cell::html(self.here(view)?), gap, verdict])
    }

    /// Its line at a terminal.
    pub fn text(&self, view: &View, figure: &str) -> Result<String> {
        let beside = match &self.beside {
            None => String::new(),
            Some((asked, measured)) => {
                format!("; {}: {}", self.among_100(measured), render::in_words(view, asked, measured)?)
            }
        };
        Ok(format!(
            "    {}: {}{beside} ({figure} {}, agrees: {}; smallest gap we could see: {}): {}\n",
            self.part.name,
            render::in_words(view, &self.asked, &self.measured)?,
            self.published(),
            self.agrees(),
            self.could_tell(),
            self.words()
        ))
    }

    /// For a script.
    pub fn json(&self, view: &View) -> Result<serde_json::Value> {
        let known = self.known();
        let mut object = serde_json::json!({
            "name": self.part.name,
            "quantity": self.asked.expression.to_string(),
            "published": self.published_value(),
            "agrees": self.agrees(),
            "median": known.map(|quantity| quantity.estimate.median),
            "interval": known.and_then(|quantity| quantity.estimate.interval),
            "session_interval": known.and_then(|quantity| quantity.session.interval),
            "sessions": known.map(|quantity| quantity.sessions),
            "resolution": known.and_then(|own| judging::resolution(own, &self.expected)),
            "verdict": self.judgement.verdict.words(),
        });
        if let Some(shift) = self.judgement.shift {
            object["shift"] = shift.words().into();
        }
        render::add_marks(&mut object, &view.marks(&self.asked)?);
        Ok(object)
    }

    /// What could not be measured of it.
    pub fn missing(&self) -> Option<&Missing> {
        self.measured.as_ref().err()
    }

    /// How many sessions the machine has of it.
    pub fn sessions(&self) -> Option<usize> {
        self.known().map(|own| own.sessions)
    }

    fn known(&self) -> Option<&Quantity> {
        self.measured.as_ref().ok()
    }

    /// A number in the unit of this part; a part that was not measured has that of what was
    /// published.
    fn show(&self, value: f64) -> String {
        let unit = self.published.map_or(Unit::Ratio, |(_, unit)| unit);
        let unit = self.known().map_or(unit, |quantity| quantity.unit);
        format::estimate(unit, &Estimate { median: value, interval: None, rounds: 0 }).value
    }
}

pub fn in_words(judgement: Judgement) -> String {
    match judgement.shift {
        Some(shift) => shift.words().to_owned(),
        None => judgement.verdict.words().to_owned(),
    }
}

/// What was published of a part, where anything was.
pub fn figure_of(published: &Published, part: &Part) -> Result<Option<(f64, Unit)>> {
    let figure = part.published.as_deref().map(Expression::parse).transpose()?;
    figure.map(|figure| evaluate_published(&figure, published)).transpose()
}

/// What would agree with a part.
pub fn expected_of(published: &Published, part: &Part) -> Result<Expectation> {
    let own = figure_of(published, part)?;
    let value = |text: &str| -> Result<f64> {
        if text == "published" {
            let (value, _) =
                own.with_context(|| format!("part {:?} speaks of what was published, and has nothing", part.name))?;
            return Ok(value);
        }
        Ok(evaluate_published(&Expression::parse(text)?, published)?.0)
    };
    Ok(match part.expected()? {
        Expected::Nothing => Expectation::Compared,
        Expected::About { value: about, within, no_effect } => {
            Expectation::About { value: value(about)?, within, no_effect: no_effect.map(value).transpose()? }
        }
        Expected::AtLeast(low) => Expectation::AtLeast(value(low)?),
        Expected::AtMost(high) => Expectation::AtMost(value(high)?),
        Expected::Between(low, high) => Expectation::Between(value(low)?, value(high)?),
        Expected::Equals(exactly) => Expectation::Equals(value(exactly)?),
    })
}
