//! The statistics of rounds. The unit of replication is a round, that is a fresh process per cell;
//! nothing here assumes a distribution.

use std::sync::LazyLock;

/// A median over rounds with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The median over the rounds.
    pub median: f64,
    /// The interval's ends, or none where there are fewer than six rounds: the range of five covers
    /// the median with probability 0.94 only.
    pub interval: Option<(f64, f64)>,
    /// How many rounds it stands on.
    pub rounds: usize,
}

/// The middle value, or the mean of the two middle ones. `None` for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n.is_multiple_of(2) => Some(f64::midpoint(sorted[half - 1], sorted[half])),
        _ => Some(sorted[half]),
    }
}

/// The smallest and the largest of these; nothing of none.
pub fn ends(all: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    all.fold(None, |ends: Option<(f64, f64)>, own| {
        Some(ends.map_or((own, own), |(low, high)| (low.min(own), high.max(own))))
    })
}

/// The median over rounds and the interval between two order statistics. `None` for no rounds.
pub fn estimate(rounds: &[f64]) -> Option<Estimate> {
    let median = median(rounds)?;
    let sorted = sorted(rounds);
    let interval = interval_rank(rounds.len()).map(|rank| (sorted[rank - 1], sorted[sorted.len() - rank]));
    Some(Estimate { median, interval, rounds: rounds.len() })
}

/// The same for ratios, on the logarithmic scale, where a/b and b/a are mirror images. Order is the
/// same on both scales, so only the middle of two values differs; and the ratio of exact counts
/// stays exact.
pub fn estimate_ratio(rounds: &[f64]) -> Option<Estimate> {
    let estimate = estimate(rounds)?;
    let sorted = sorted(rounds);
    let (below, above) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    Some(Estimate { median: (below * above).sqrt(), ..estimate })
}

/// The largest `k` for which the `k`th smallest and the `k`th largest of `n` values enclose the
/// median with at least 95 %.
///
/// Each value lies below the median with probability one half, so the chance that fewer than `k` do
/// is a binomial tail.
pub fn interval_rank(n: usize) -> Option<usize> {
    let mut outside = 0.0;
    let mut term = 0.5f64.powi(n as i32);
    let mut rank = None;
    for below in 0..n / 2 {
        outside += 2.0 * term;
        if outside > 0.05 {
            break;
        }
        rank = Some(below + 1);
        term *= (n - below) as f64 / (below + 1) as f64;
    }
    rank
}

/// The correlation of each value with the one before it; nothing for fewer than six values, or
/// where they do not vary. That values without any come out at minus one over their number is made
/// up for.
pub fn correlation_with_the_one_before(values: &[f64]) -> Option<f64> {
    const FEWEST: usize = 6;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let together: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    (values.len() >= FEWEST && spread > 0.0).then(|| together / spread + 1.0 / values.len() as f64)
}

/// Whether the first half of these values differs from the second by more than chance: by what
/// share the second half's median lies above the first's, where chance alone would order the two
/// halves so clearly less than once in a thousand times. Nothing for fewer than fourteen values, of
/// which no order is so rare.
pub fn drift(values: &[f64]) -> Option<f64> {
    const FEWEST: usize = 14;
    if values.len() < FEWEST {
        return None;
    }
    // Of an odd number the middle one belongs to neither half.
    let half = values.len() / 2;
    let (first, second) = (&values[..half], &values[values.len() - half..]);
    let above = |a: &f64| {
        second
            .iter()
            .map(|b| {
                if b > a {
                    1.0
                } else if b < a {
                    0.0
                } else {
                    0.5
                }
            })
            .sum::<f64>()
    };
    let pairs: f64 = first.iter().map(above).sum();
    let (before, after) = (median(first)?, median(second)?);
    let fewer = pairs.min((half * half) as f64 - pairs);
    (fewer <= most_by_chance(half) && before != 0.0).then(|| after / before - 1.0)
}

/// Of so many pairs of two samples of `n` values each, the most that may be ordered the other way,
/// so that chance alone orders the two at least as clearly, to either side, less than once in a
/// thousand times: the statistic of Mann and Whitney. Counted exactly up to twenty values, and from
/// there on by the normal distribution, which differs by two or three then.
fn most_by_chance(n: usize) -> f64 {
    const EXACT: usize = 20;
    /// Beyond so many standard deviations to either side lies a thousandth.
    const DEVIATIONS: f64 = 3.2905;
    static COUNTED: LazyLock<Vec<f64>> = LazyLock::new(|| (0..=EXACT).map(most_by_counting).collect());
    let size = n as f64;
    let deviation = (size * size * (2.0 * size + 1.0) / 12.0).sqrt();
    COUNTED.get(n).copied().unwrap_or_else(|| size * size / 2.0 - DEVIATIONS * deviation)
}

/// The same, counted: how many arrangements of the two samples have so many pairs in order. Below 0
/// where none is so rare.
fn most_by_counting(n: usize) -> f64 {
    const BY_CHANCE: f64 = 0.001;
    // By how many of the first and how many of the second sample are arranged.
    let mut ways = vec![vec![vec![1.0_f64]; n + 1]; n + 1];
    for first in 1..=n {
        for second in 1..=n {
            // The largest value is of the second sample, above all of the first, or of the first.
            let (below, beside) = (&ways[first][second - 1], &ways[first - 1][second]);
            let of_second = |pairs: usize| pairs.checked_sub(first).and_then(|pairs| below.get(pairs)).unwrap_or(&0.0);
            let of_first = |pairs: usize| beside.get(pairs).unwrap_or(&0.0);
            ways[first][second] = (0..=first * second).map(|pairs| of_second(pairs) + of_first(pairs)).collect();
        }
    }
    let all: f64 = ways[n][n].iter().sum();
    let mut most = -1.0;
    let mut rare = 0.0;
    for (pairs, ways) in ways[n][n].iter().enumerate() {
        rare += 2.0 * ways / all;
        if rare >= BY_CHANCE {
            break;
        }
        most = pairs as f64;
    }
    most
}

/// A straight line through points, by least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// What y gains with each x.
    pub slope: f64,
    /// Where it is at x = 0.
    pub at_zero: f64,
    /// The largest distance of a point from it, as a share of the range of y; 0 where y does not
    /// vary.
    pub residual: f64,
}

/// The line through these points. `None` where there are fewer than two different x.
pub fn line(xs: &[f64], ys: &[f64]) -> Option<Line> {
    let n = xs.len() as f64;
    let (mean_x, mean_y) = (xs.iter().sum::<f64>() / n, ys.iter().sum::<f64>() / n);
    let spread: f64 = xs.iter().map(|x| (x - mean_x).powi(2)).sum();
    if spread.is_nan() || spread <= 0.0 {
        return None;
    }
    let together: f64 = xs.iter().zip(ys).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let slope = together / spread;
    let at_zero = mean_y - slope * mean_x;
    let off = xs.iter().zip(ys).map(|(x, y)| (y - (at_zero + slope * x)).abs()).fold(0.0, f64::max);
    let (low, high) = ends(ys.iter().copied())?;
    Some(Line { slope, at_zero, residual: if high > low { off / (high - low) } else { 0.0 } })
}

impl Estimate {
    /// Half the interval's width over the median: what a target of 5 % is compared with. Nothing,
    /// for an exact number, be it 0.
    pub fn relative_half_width(&self) -> Option<f64> {
        self.interval.map(|(low, high)| if low == high { 0.0 } else { (high - low) / 2.0 / self.median.abs() })
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests;
