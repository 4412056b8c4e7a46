//! The one place that rounds. Three significant digits, an interval's ends to the same decimal
//! place, and commas between thousands.

use crate::book::unit::Unit;
use crate::compute::quantity::Quantity;
use crate::statistics::Estimate;

/// A scale for numbers of one unit: a name and how many of the unit it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// `ns`, `µs`, `ms`, `s`; `B`, `KiB`, `MiB`, `GiB`; nothing for counts and ratios.
    pub name: &'static str,
    /// In nanoseconds or bytes.
    pub size: f64,
}

const fn scale(name: &'static str, size: f64) -> Scale {
    Scale { name, size }
}

const PLAIN: [Scale; 1] = [scale("", 1.0)];
const TIMES: [Scale; 4] = [scale("ns", 1.0), scale("µs", 1e3), scale("ms", 1e6), scale("s", 1e9)];
const BYTES: [Scale; 4] =
    [scale("B", 1.0), scale("KiB", 1024.0), scale("MiB", 1_048_576.0), scale("GiB", 1_073_741_824.0)];

impl Scale {
    /// The scale on which this number has few digits before the point.
    pub fn of(unit: Unit, number: f64) -> Self {
        let scales = Self::all(unit);
        let fits = |scale: &&Scale| number.abs() >= scale.size;
        scales.iter().rev().find(fits).copied().unwrap_or(scales[0])
    }

    fn all(unit: Unit) -> &'static [Self] {
        match unit {
            Unit::Nanoseconds => &TIMES,
            Unit::Bytes => &BYTES,
            Unit::Count | Unit::Ratio => &PLAIN,
        }
    }

    /// The number on this scale, without the unit.
    pub fn show(self, number_of_units: f64) -> String {
        number(number_of_units / self.size)
    }

    /// The number as it was set, with the unit: it is not rounded.
    pub fn exact(self, number_of_units: f64) -> String {
        format!("{} {}", number_of_units / self.size, self.name)
    }

    /// What a column or an axis of such numbers is headed: `text, KiB`, or the text alone where
    /// there is no unit.
    pub fn head(self, text: &str) -> String {
        if self.name.is_empty() { text.to_owned() } else { format!("{text}, {}", self.name) }
    }
}

/// Where a logarithmic axis from one number to another has ticks, and what each reads: powers of
/// ten on the scales of its unit, and with them twice and five times as much where there would be
/// fewer than two.
pub fn ticks(unit: Unit, low: f64, high: f64) -> Vec<(f64, String)> {
    let between = |steps: &[f64]| {
        let numbers = (-3..=12).flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        let on_scales = numbers.flat_map(|number| Scale::all(unit).iter().map(move |scale| (number, *scale)));
        // A thousand bytes stand too near to a KiB.
        let is_own = |number: f64, scale: Scale| {
            Scale::of(unit, number * scale.size) == scale
                && (number < 1000.0 || Scale::all(unit).last() == Some(&scale))
        };
        let shown = on_scales
            .filter(|(number, scale)| is_own(*number, *scale) && (low..=high).contains(&(number * scale.size)));
        let words = |(number, scale): (f64, Scale)| {
            (number * scale.size, format!("{} {}", grouped(&number.to_string()), scale.name).trim_end().to_owned())
        };
        let mut ticks: Vec<(f64, String)> = shown.map(words).collect();
        ticks.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        ticks
    };
    let decades = between(&[1.0]);
    if decades.len() < 2 { between(&[1.0, 2.0, 5.0]) } else { decades }
}

/// Three significant digits, but no digit of a whole number is lost, and never more than three
/// decimals. What would then look like nothing, though it is something, is said to be less than a
/// thousandth.
pub fn number(value: f64) -> String {
    if is_tiny(value) { "<0.001".to_owned() } else { grouped(&format!("{value:.*}", decimals(value))) }
}

fn is_tiny(value: f64) -> bool {
    value != 0.0 && value.abs() < 0.0005
}

fn decimals(value: f64) -> usize {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return 0;
    }
    // Rounding may carry into another digit: 9.999 is 10.0, not 10.00.
    let exponent = format!("{magnitude:.2e}").split('e').nth(1).and_then(|e| e.parse::<i32>().ok()).unwrap_or(0);
    (2 - exponent).clamp(0, 3) as usize
}

/// With so many decimals; what rounds to nothing has no sign.
fn fixed(value: f64, places: usize) -> String {
    let text = grouped(&format!("{value:.places$}"));
    if text.contains(|digit| ('1'..='9').contains(&digit)) { text } else { text.trim_start_matches('-').to_owned() }
}

/// A number with commas between its thousands.
pub fn grouped(number: &str) -> String {
    let whole = number.find('.').unwrap_or(number.len());
    let mut out = String::new();
    for (place, character) in number.char_indices() {
        let thousands = place < whole && (whole - place).is_multiple_of(3);
        if thousands && out.ends_with(|before: char| before.is_ascii_digit()) {
            out.push(',');
        }
        out.push(character);
    }
    out
}

/// A quantity in words: the number with its unit, and the interval with the same number of
/// decimals.
pub struct Shown {
    /// For example `4.92 µs`, `1.44`.
    pub value: String,
    /// For example `4.88–4.97`; none where there are too few rounds.
    pub interval: Option<String>,
    /// Whether both ends of the interval read alike, so that it says no more than the number.
    pub is_point: bool,
}

impl Shown {
    /// What a page says beside the number: its interval, that there is none, or nothing where it
    /// would only repeat the number.
    pub fn beside(&self) -> Option<&str> {
        (!self.is_point).then(|| self.interval_or_none())
    }

    /// The interval, or that there is none.
    pub fn interval_or_none(&self) -> &str {
        self.interval.as_deref().unwrap_or("no interval")
    }
}

/// A quantity on the scale that fits it.
pub fn quantity(quantity: &Quantity) -> Shown {
    estimate(quantity.unit, &quantity.estimate)
}

/// What was estimated in a unit, on the scale that fits it.
pub fn estimate(unit: Unit, estimate: &Estimate) -> Shown {
    let scale = Scale::of(unit, estimate.median);
    let Shown { value, interval, is_point } = on_scale(estimate, scale);
    let unit = if scale.name.is_empty() { String::new() } else { format!(" {}", scale.name) };
    Shown { value: value + &unit, interval, is_point }
}

/// An estimate on a scale that it shares with others, without the unit.
pub fn on_scale(estimate: &Estimate, scale: Scale) -> Shown {
    let divide = scale.size;
    let value = estimate.median / divide;
    let (low, high) = estimate.interval.unwrap_or((0.0, 0.0));
    // Nothing has no digits of its own; those of its interval then say how exact it is.
    let places = if value == 0.0 { decimals(low.abs().max(high.abs()) / divide) } else { decimals(value) };
    let ends = estimate.interval.map(|(low, high)| (fixed(low / divide, places), fixed(high / divide, places)));
    Shown {
        value: if is_tiny(value) { number(value) } else { fixed(value, places) },
        is_point: ends.as_ref().is_some_and(|(low, high)| low == high),
        interval: ends.map(|(low, high)| range(&low, &high)),
    }
}

/// To what a number of a unit is rounded, and its interval with it.
pub fn printed_place(unit: Unit, number: f64) -> f64 {
    let scale = Scale::of(unit, number);
    scale.size / 10_f64.powi(decimals(number / scale.size) as i32)
}

/// From one number to another. A dash between them would look like the sign of the second where the
/// first has one.
pub fn range(low: &str, high: &str) -> String {
    let between = if low.starts_with('-') { " to " } else { "–" };
    format!("{low}{between}{high}")
}

/// A quantity as a sentence says it that does not print its interval: with as many digits as that
/// supports, two at least and three at most. A ratio that differs from 1 for certain is not 1.0.
pub fn rough(quantity: &Quantity) -> String {
    const SHARP: f64 = 0.02;
    let estimate = quantity.estimate;
    // What was counted and came out the same every time is exact.
    if quantity.unit == Unit::Count
        && estimate.median.fract() == 0.0
        && estimate.interval == Some((estimate.median, estimate.median))
    {
        return grouped(&format!("{:.0}", estimate.median));
    }
    let is_sharp = estimate.relative_half_width().is_some_and(|width| width < SHARP);
    let scale = Scale::of(quantity.unit, estimate.median);
    let said = |digits| significant(estimate.median / scale.size, digits);
    let hides = quantity.unit == Unit::Ratio && quantity.is_clear() && said(2) == "1.0";
    let value = said(if is_sharp || hides { 3 } else { 2 });
    if scale.name.is_empty() { value } else { format!("{value} {}", scale.name) }
}

/// Whether a ratio is said as 1, and is that within a tenth.
pub fn is_about_1(quantity: &Quantity) -> bool {
    const NEAR: f64 = 1.1;
    let is_near = quantity.judged().is_some_and(|(low, high)| low * NEAR > 1.0 && high < NEAR);
    is_near && ["1.0", "1.00"].contains(&rough(quantity).as_str())
}

/// A quantity as it is said before other words, and how much of these belongs to it: nothing may
/// break between a number and what it is a number of, and what is 1 within a tenth is *about as*
/// long.
pub fn said_before(quantity: &Quantity, after: &str) -> (String, &'static str) {
    if after.starts_with("× as ") && is_about_1(quantity) {
        return ("about as".to_owned(), "× as");
    }
    let said = rough(quantity);
    let unit = if after.starts_with('×') { "×" } else { "" };
    (said + unit, unit)
}

/// A number to so many significant digits, with zeros in the places of others that it has before
/// its point.
fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let exponent = value.abs().log10().floor() as i32;
    let unit = 10f64.powi(exponent - digits + 1);
    let rounded = (value / unit).round() * unit;
    // Rounding may have carried into another digit.
    let exponent = (rounded.abs() * (1.0 + 1e-12)).log10().floor() as i32;
    grouped(&format!("{rounded:.*}", (digits - 1 - exponent).max(0) as usize))
}

/// Parts of a hundred.
pub fn percent(part: f64) -> String {
    format!("{} %", number(part * 100.0))
}

/// Words as a sentence begins with them.
pub fn capitalized(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_that_of_the_last_digit_that_is_printed() {
        for (unit, number, place) in [
            (Unit::Nanoseconds, 4_916.0, 10.0),
            (Unit::Bytes, 39_510.0, 102.4),
            (Unit::Count, 39_510.0, 1.0),
            (Unit::Ratio, 0.2439, 0.001),
            (Unit::Ratio, 0.0, 1.0),
        ] {
            assert!((printed_place(unit, number) / place - 1.0).abs() < 1e-9, "{number}");
        }
    }

    #[test]
    fn ticks_are_round_numbers_of_an_axis() {
        let words = |unit, low, high| ticks(unit, low, high).into_iter().map(|(_, words)| words).collect::<Vec<_>>();
        assert_eq!(words(Unit::Nanoseconds, 90.0, 25_000.0), ["100 ns", "1 µs", "10 µs"]);
        assert_eq!(words(Unit::Nanoseconds, 150.0, 700.0), ["200 ns", "500 ns"]);
        assert_eq!(words(Unit::Bytes, 300.0, 110_000.0), ["1 KiB", "10 KiB", "100 KiB"]);
        assert_eq!(words(Unit::Count, 900.0, 2_500_000.0), ["1,000", "10,000", "100,000", "1,000,000"]);
    }

    #[test]
    fn significant_digits_are_kept_and_others_are_zeros() {
        for (value, digits, shown) in [
            (116.7, 3, "117"),
            (116.7, 2, "120"),
            (21_413.0, 2, "21,000"),
            (1.5972, 2, "1.6"),
            (0.1064, 2, "0.11"),
            (9.96, 2, "10"),
            (99.96, 3, "100"),
            (1.0, 3, "1.00"),
            (-0.0456, 2, "-0.046"),
            (0.0, 3, "0"),
        ] {
            assert_eq!(significant(value, digits), shown, "{value} to {digits}");
        }
    }

    fn ratio(median: f64, low: f64, high: f64) -> Quantity {
        let estimate = Estimate { median, interval: Some((low, high)), rounds: 20 };
        Quantity { unit: Unit::Ratio, estimate, session: estimate, sessions: 1, bias: 0.0 }
    }

    #[test]
    fn what_is_1_within_a_tenth_is_about_as_much_and_other_ratios_keep_their_sign() {
        for (quantity, after, words) in [
            (ratio(1.04, 0.95, 1.09), "× as long.", ("about as", "× as")),
            (ratio(1.0, 0.999, 1.001), "× as many.", ("about as", "× as")),
            (ratio(1.04, 0.8, 1.3), "× as long.", ("1.0×", "×")),
            (ratio(1.01, 1.005, 1.015), "× as long.", ("1.01×", "×")),
            (ratio(1.0, 0.95, 1.05), "× over sockets.", ("1.0×", "×")),
            (ratio(1.04, 0.95, 1.09), " times.", ("1.0", "")),
        ] {
            assert_eq!(said_before(&quantity, after), (words.0.to_owned(), words.1), "{quantity:?}{after}");
        }
    }

    #[test]
    fn a_ratio_that_differs_from_1_for_certain_is_not_1_0() {
        let said = |median, low, high| rough(&ratio(median, low, high));
        assert_eq!(said(1.04, 1.005, 1.08), "1.04");
        assert_eq!(said(1.04, 0.99, 1.09), "1.0");
        assert_eq!(said(1.34, 1.2, 1.5), "1.3");
    }

    #[test]
    fn a_range_of_negative_numbers_has_no_dash() {
        assert_eq!(range("1.5", "2.0"), "1.5–2.0");
        assert_eq!(range("-3.9", "-3.8"), "-3.9 to -3.8");
    }

    #[test]
    fn an_interval_whose_ends_read_alike_is_a_point() {
        for (interval, is_point) in [(Some((2.0, 2.001)), true), (Some((1.99, 2.001)), false), (None, false)] {
            let shown = estimate(Unit::Count, &Estimate { median: 2.0, interval, rounds: 6 });
            assert_eq!(shown.is_point, is_point, "{interval:?}");
            assert_eq!(shown.beside().is_none(), is_point, "{interval:?}");
        }
    }

    #[test]
    fn three_digits() {
        for (value, shown) in [
            (4.9213, "4.92"),
            (12.345, "12.3"),
            (1234.5, "1,234"),
            (0.04567, "0.046"),
            (9.9996, "10.0"),
            (0.0, "0"),
            (0.0001, "<0.001"),
            (-3.456, "-3.46"),
        ] {
            assert_eq!(number(value), shown);
        }
    }

    #[test]
    fn thousands_have_commas() {
        for (plain, shown) in [
            ("0", "0"),
            ("999", "999"),
            ("1000", "1,000"),
            ("-123456", "-123,456"),
            ("10000000", "10,000,000"),
            ("1234.5678", "1,234.5678"),
            ("-0.001", "-0.001"),
        ] {
            assert_eq!(grouped(plain), shown);
        }
    }

    #[test]
    fn times_find_their_scale_and_the_interval_keeps_it() {
        let shown =
            estimate(Unit::Nanoseconds, &Estimate { median: 998.0, interval: Some((990.0, 1004.4)), rounds: 6 });
        assert_eq!((shown.value.as_str(), shown.interval.as_deref()), ("998 ns", Some("990–1,004")));
        let shown = estimate(Unit::Nanoseconds, &Estimate { median: 4921.0, interval: None, rounds: 3 });
        assert_eq!((shown.value.as_str(), shown.interval), ("4.92 µs", None));
        let shown = estimate(Unit::Count, &Estimate { median: 0.0, interval: Some((-0.0002, 0.0)), rounds: 6 });
        assert_eq!((shown.value.as_str(), shown.interval.as_deref()), ("0.000", Some("0.000–0.000")));
        assert_eq!(Scale::of(Unit::Nanoseconds, 0.2), TIMES[0]);
        let shown =
            estimate(Unit::Bytes, &Estimate { median: 36_500.0, interval: Some((36_400.0, 36_864.0)), rounds: 6 });
        assert_eq!((shown.value.as_str(), shown.interval.as_deref()), ("35.6 KiB", Some("35.5–36.0")));
        assert_eq!(Scale::of(Unit::Count, 4e9).head("mappings"), "mappings");
        assert_eq!(percent(0.0312), "3.12 %");
    }
}
