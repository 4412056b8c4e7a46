//! What the data say about a claim.

use crate::book::unit::Unit;
use crate::book::verdict::{Shift, Verdict};
use crate::compute::quantity::{Measured, Quantity};

/// What would agree with a part of a claim.
#[derive(Debug, Clone)]
pub enum Expectation {
    /// Nothing: figures stand side by side.
    Compared,
    /// This value, within a factor either way. Where there is a value that would mean no effect,
    /// the effect may be there with another figure.
    About {
        value: f64,
        within: f64,
        /// Where there would be no effect; nowhere, if what is claimed is the value itself.
        no_effect: Option<f64>,
    },
    AtLeast(f64),
    AtMost(f64),
    /// From the first to the second.
    Between(f64, f64),
    Equals(f64),
}

impl Expectation {
    /// The lowest and the highest value that agree; nothing where none is expected.
    pub fn band(&self) -> Option<(f64, f64)> {
        Some(match *self {
            Self::Compared => return None,
            Self::About { value, within, .. } => {
                let ends = (value / within, value * within);
                (ends.0.min(ends.1), ends.0.max(ends.1))
            }
            Self::AtLeast(low) => (low, f64::INFINITY),
            Self::AtMost(high) => (f64::NEG_INFINITY, high),
            Self::Between(low, high) => (low, high),
            Self::Equals(value) => (value, value),
        })
    }
}

/// What is alike: within a quarter either way, as agreement with a published figure is.
pub const ALIKE: f64 = 1.25;

/// What is said of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    pub verdict: Verdict,
    /// To which side it is shifted, where it is.
    pub shift: Option<Shift>,
}

impl Judgement {
    const fn of(verdict: Verdict) -> Self {
        Self { verdict, shift: None }
    }
}

/// The verdict on one part: *holds* where all of the interval agrees, *does not hold* where none of
/// it does, *undecided* wherever the interval reaches over a bound. Being unable to tell is never
/// taken for an answer.
pub fn judge(measured: &Measured, expected: &Expectation) -> Judgement {
    let Some(band) = expected.band() else {
        return Judgement::of(if measured.is_ok() { Verdict::Compared } else { Verdict::NotMeasured });
    };
    let Some((interval, quantity)) = measured.as_ref().ok().and_then(|own| Some((own.judged()?, own))) else {
        return Judgement::of(Verdict::NotMeasured);
    };
    let inside = band.0 <= interval.0 && interval.1 <= band.1;
    let outside = interval.1 < band.0 || band.1 < interval.0;
    match expected {
        Expectation::About { value, no_effect: Some(none), .. } => with_effect(quantity, band, *none, value > none),
        _ => by_the_band(inside, outside),
    }
}

/// The same where somebody published a figure. What would be undecided is too close to tell where
/// the two that are compared are surely alike, and the difference that is claimed is smaller than
/// the smallest that could be seen: then no session of this kind shows it.
pub fn judge_figure(measured: &Measured, expected: &Expectation, figure: Option<f64>) -> Judgement {
    let judgement = judge(measured, expected);
    let is_too_close = || {
        let quantity = measured.as_ref().ok()?;
        let none = no_difference(quantity.unit, expected)?;
        let (low, high) = quantity.judged()?;
        let is_alike = none / ALIKE < low && high < none * ALIKE;
        Some(is_alike && claimed_difference(quantity.unit, expected, figure)? < resolution(quantity, expected)?)
    };
    match judgement.verdict {
        Verdict::Undecided if is_too_close().unwrap_or(false) => Judgement::of(Verdict::TooClose),
        _ => judgement,
    }
}

/// The value that means no difference, where that is something.
pub fn no_difference(unit: Unit, expected: &Expectation) -> Option<f64> {
    match *expected {
        Expectation::About { no_effect: Some(none), .. } => Some(none).filter(|none| *none > 0.0),
        _ => (unit == Unit::Ratio).then_some(1.0),
    }
}

/// How large a difference is claimed, as a share of what means none: by the published figure, or
/// else by what would agree.
pub fn claimed_difference(unit: Unit, expected: &Expectation, figure: Option<f64>) -> Option<f64> {
    let none = no_difference(unit, expected)?;
    let expected = || {
        Some(match *expected {
            Expectation::Compared | Expectation::Equals(_) => return None,
            Expectation::About { value, .. } | Expectation::AtLeast(value) | Expectation::AtMost(value) => value,
            Expectation::Between(low, high) => low.max(high),
        })
    };
    figure.or_else(expected).map(|value| (value / none - 1.0).abs())
}

/// Whether more is claimed than what means no difference, or less; nothing where neither is.
pub fn claims_more(none: f64, expected: &Expectation, figure: Option<f64>) -> Option<bool> {
    let value = match (figure, expected) {
        (Some(figure), _) => figure,
        (None, Expectation::AtLeast(_)) => return Some(true),
        (None, Expectation::AtMost(_)) => return Some(false),
        (None, Expectation::About { value, .. }) => *value,
        (None, Expectation::Between(low, _)) if *low > none => return Some(true),
        (None, Expectation::Between(_, high)) if *high < none => return Some(false),
        (None, _) => return None,
    };
    (value != none).then_some(value > none)
}

fn by_the_band(inside: bool, outside: bool) -> Judgement {
    Judgement::of(match (inside, outside) {
        (true, _) => Verdict::Holds,
        (_, true) => Verdict::DoesNotHold,
        _ => Verdict::Undecided,
    })
}

/// Where an effect is claimed: it is there as claimed, there with another figure, or not there.
fn with_effect(quantity: &Quantity, band: (f64, f64), none: f64, claimed_above: bool) -> Judgement {
    let Some((low, high)) = quantity.judged() else { return Judgement::of(Verdict::NotMeasured) };
    let inside = band.0 <= low && high <= band.1;
    let outside = high < band.0 || band.1 < low;
    let as_claimed = if claimed_above { low > none } else { high < none };
    let opposite = if claimed_above { high < none } else { low > none };
    // All of the interval lies nearer to no effect than to whatever would agree, of ratios on their
    // own scale.
    let half_way = half_way(none, band, claimed_above);
    // A third of a time is another figure of it, and no time at all is none.
    let is_near = if claimed_above { high < half_way } else { low > half_way };
    let is_next_to_none = is_near && (none != 0.0 || low <= 0.0);
    match (inside, outside) {
        (true, _) if as_claimed => Judgement::of(Verdict::Holds),
        (_, true) if opposite || is_next_to_none => Judgement::of(Verdict::DoesNotHold),
        (_, true) if as_claimed => {
            Judgement { verdict: Verdict::Shifted, shift: Some(shift(quantity, band, claimed_above)) }
        }
        _ => Judgement::of(Verdict::Undecided),
    }
}

/// To which side of what would agree a number lies: beyond it as seen from no effect, or between
/// the two. Of a time or a size, which is as the machine is, neither is more than was claimed.
fn shift(quantity: &Quantity, band: (f64, f64), claimed_above: bool) -> Shift {
    let is_above = quantity.estimate.median > band.1;
    match quantity.unit {
        Unit::Nanoseconds | Unit::Bytes => Shift::AnotherFigure,
        Unit::Count | Unit::Ratio if is_above == claimed_above => Shift::More,
        Unit::Count | Unit::Ratio => Shift::Less,
    }
}

/// The smallest difference that could have been seen: how far its interval reaches to the farther
/// side, as a share of the number or of the nearest bound, whichever is larger, since next to
/// nothing all shares are large.
pub fn resolution(quantity: &Quantity, expected: &Expectation) -> Option<f64> {
    let (low, high) = quantity.judged()?;
    let median = quantity.estimate.median;
    let bound = nearest_bound(quantity, expected).map_or(0.0, |(bound, _)| bound.abs());
    let size = median.abs().max(bound);
    (size > 0.0).then(|| (median - low).max(high - median) / size)
}

/// The bound of what would agree that decides: one that the interval reaches over, and else the
/// nearest to the number; and how far beyond the interval it lies, as a share of itself.
pub fn nearest_bound(quantity: &Quantity, expected: &Expectation) -> Option<(f64, Option<f64>)> {
    let (low, high) = expected.band()?;
    let (own_low, own_high) = quantity.judged()?;
    let gap = |bound: f64| (own_low - bound).max(bound - own_high);
    let bounds = [low, high].into_iter().filter(|bound| bound.is_finite());
    let (within, beyond): (Vec<f64>, Vec<f64>) = bounds.partition(|bound| gap(*bound) < 0.0);
    let candidates = if within.is_empty() { beyond } else { within };
    let distance = |bound: &f64| (quantity.estimate.median - bound).abs();
    let bound = candidates.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let gap = gap(bound);
    Some((bound, (gap >= 0.0 && bound != 0.0).then(|| gap / bound.abs())))
}

/// How narrow an interval about the same number would be decided: its distance from the nearest
/// value at which the verdict changes, as a share of the larger of the two.
pub fn decided_within(quantity: &Quantity, expected: &Expectation) -> Option<f64> {
    let band = expected.band()?;
    let half_way = match *expected {
        Expectation::About { value, no_effect: Some(none), .. } => Some(half_way(none, band, value > none)),
        _ => None,
    };
    let median = quantity.estimate.median;
    let bounds = [Some(band.0), Some(band.1), half_way].into_iter().flatten().filter(|bound| bound.is_finite());
    let share = |bound: f64| (median - bound).abs() / median.abs().max(bound.abs());
    bounds.map(share).min_by(f64::total_cmp)
}

/// The value that is as near to no effect as to whatever would agree, of ratios on their own scale.
fn half_way(none: f64, band: (f64, f64), claimed_above: bool) -> f64 {
    let bound = if claimed_above { band.0 } else { band.1 };
    if none > 0.0 && bound > 0.0 { (none * bound).sqrt() } else { f64::midpoint(none, bound) }
}

/// What is said of a claim whose parts are all to be so: the worst of them.
pub fn all_of(parts: impl Iterator<Item = Judgement>) -> Judgement {
    combined(parts, |worse, better| worse > better)
}

/// What is said of a claim of whose parts one is enough: the best of them. What was not measured
/// might have been that one.
pub fn any_of(parts: impl Iterator<Item = Judgement>) -> Judgement {
    let parts: Vec<Judgement> = parts.collect();
    let decided = combined(parts.iter().copied().filter(|part| part.verdict != Verdict::NotMeasured), |a, b| a < b);
    match decided.verdict {
        Verdict::Holds | Verdict::Compared => decided,
        _ if parts.iter().any(|part| part.verdict == Verdict::NotMeasured) => Judgement::of(Verdict::NotMeasured),
        _ => decided,
    }
}

/// The part that comes before all others. Several that are shifted to different sides have other
/// figures.
fn combined(parts: impl Iterator<Item = Judgement>, comes_first: fn(Verdict, Verdict) -> bool) -> Judgement {
    let both = |a: Judgement, b: Judgement| match () {
        () if a.verdict == b.verdict => Judgement {
            verdict: a.verdict,
            shift: if a.shift == b.shift { a.shift } else { Some(Shift::AnotherFigure) },
        },
        () if comes_first(a.verdict, b.verdict) => a,
        () => b,
    };
    parts.reduce(both).unwrap_or(Judgement::of(Verdict::NotMeasured))
}

#[cfg(test)]
mod tests;
