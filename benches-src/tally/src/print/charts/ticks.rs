//! Where a logarithmic axis has its numbers. Vega numbers powers of ten and, of what lies between,
//! only what comes soon after one: an axis from 8.7 to 9.3 had no number at all. So a narrow axis
//! is told where its ticks are, and Vega leaves out none of these.

use std::ops::RangeInclusive;

use serde_json::Value;

use super::change_each;

/// From this factor between its ends on, an axis has numbers enough of its own: a power of ten, and
/// what comes after it.
const WIDE: f64 = 10.0;

/// No axis is narrower than this factor, on each side of what it shows: on a narrower one, ticks
/// would have the same number.
const ROOM: f64 = 1.02;

/// Sees to it that every logarithmic axis of a specification has two numbers or more, given its
/// rows.
pub(super) fn number_axes(specification: &mut Value, rows: &[Value]) {
    for channel in ["x", "y"] {
        let fields = fields_of(specification, channel);
        let values = fields.iter().flat_map(|field| rows.iter().filter_map(move |row| row[*field].as_f64()));
        let values: Vec<f64> = values.filter(|value| *value > 0.0 && value.is_finite()).collect();
        let (low, high) =
            values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), own| (low.min(*own), high.max(*own)));
        if values.is_empty() || has_two(specification, channel, &(low..=high)).unwrap_or(high / low >= WIDE) {
            continue;
        }
        let is_narrow = high / low < ROOM;
        let ends = if is_narrow { low / ROOM..=high * ROOM } else { low..=high };
        let are_counts = !is_narrow && values.iter().all(|value| value.fract() == 0.0);
        let ticks = Value::from(ticks(&ends, are_counts));
        set(specification, channel, &ticks, is_narrow.then_some(&ends));
    }
}

/// The fields that a logarithmic axis shows, the other ends of what has two among them.
fn fields_of<'a>(spec: &'a Value, channel: &str) -> Vec<&'a str> {
    let ends = [channel.to_owned(), format!("{channel}2")];
    let logarithmic = within(spec).into_iter().filter(|own| is_logarithmic(&own[channel]));
    logarithmic.flat_map(|own| ends.iter().filter_map(|end| own[end.as_str()]["field"].as_str())).collect()
}

/// Whether two of the ticks that a specification has itself lie between the ends of such an axis;
/// nothing where it has none itself.
fn has_two(spec: &Value, channel: &str, ends: &RangeInclusive<f64>) -> Option<bool> {
    let mut logarithmic = within(spec).into_iter().map(|own| &own[channel]).filter(|own| is_logarithmic(own));
    let ticks = logarithmic.find_map(|own| own["axis"]["values"].as_array())?;
    Some(ticks.iter().filter_map(Value::as_f64).filter(|tick| ends.contains(tick)).count() > 1)
}

fn is_logarithmic(channel: &Value) -> bool {
    channel["scale"]["type"] == "log"
}

/// A value, and then everything in it.
fn within(value: &Value) -> Vec<&Value> {
    let inner: Vec<&Value> = match value {
        Value::Array(items) => items.iter().flat_map(within).collect(),
        Value::Object(fields) => fields.values().flat_map(within).collect(),
        _ => Vec::new(),
    };
    [vec![value], inner].concat()
}

/// Gives every such axis its ticks, and its ends where they are others than those of the rows. What
/// has no axis has no ticks either.
fn set(spec: &mut Value, channel: &str, ticks: &Value, ends: Option<&RangeInclusive<f64>>) {
    change_each(spec, &mut |value| {
        let Some(own) = value.get_mut(channel).filter(|own| is_logarithmic(own)) else { return };
        if let Some(ends) = ends {
            own["scale"]["domain"] = Value::from(vec![*ends.start(), *ends.end()]);
        }
        if own["axis"].is_object() {
            own["axis"]["values"] = ticks.clone();
        }
    });
}

/// Round numbers between two ends, three or more: powers of ten, their doubles and halves, or else
/// equal steps, the widest of which there are so many. Where all that is shown are counts, steps
/// are whole, if two of these lie there.
fn ticks(ends: &RangeInclusive<f64>, are_counts: bool) -> Vec<f64> {
    let (lowest, highest) = (ends.start().log10().floor() as i32, ends.end().log10().ceil() as i32);
    let decades = (lowest..=highest).flat_map(|power| [1, 2, 5].map(move |digit| multiple(1.0, digit, power)));
    let decades: Vec<f64> = decades.filter(|tick| ends.contains(tick)).collect();
    if decades.len() > 2 {
        return decades;
    }
    let steps = (0..).flat_map(|below| [5, 2, 1].map(move |digit| (digit, highest - below)));
    for (digit, power) in steps {
        let found = multiples(digit, power, ends);
        let is_last_of_counts = are_counts && (digit, power) == (1, 0) && found.len() > 1;
        if found.len() > 2 || is_last_of_counts {
            return found;
        }
    }
    unreachable!("steps become as small as any distance")
}

/// The multiples of a digit times a power of ten between two ends.
fn multiples(digit: u32, power: i32, ends: &RangeInclusive<f64>) -> Vec<f64> {
    let step = multiple(1.0, digit, power);
    // What a division makes of an end may lie beside a whole number.
    let (first, last) = ((ends.start() / step).floor() as i64, (ends.end() / step).ceil() as i64);
    (first..=last).map(|count| multiple(count as f64, digit, power)).filter(|tick| ends.contains(tick)).collect()
}

/// The number that is nearest to its decimal, so that it is written as that.
fn multiple(count: f64, digit: u32, power: i32) -> f64 {
    match power {
        0.. => count * f64::from(digit) * 10_f64.powi(power),
        _ => count * f64::from(digit) / 10_f64.powi(-power),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn narrow_axes_have_round_numbers() {
        for (low, high, wanted) in [
            (8.7, 9.3, &[8.8, 9.0, 9.2][..]),
            (7.6, 9.1, &[8.0, 8.5, 9.0]),
            (870.0, 940.0, &[880.0, 900.0, 920.0, 940.0]),
            (1.2, 11.0, &[2.0, 5.0, 10.0]),
            (0.00087, 0.00094, &[0.00088, 0.0009, 0.00092, 0.00094]),
        ] {
            assert_eq!(ticks(&(low..=high), false), wanted, "{low} to {high}");
        }
        assert_eq!(ticks(&(1.0..=2.0), false), [1.0, 1.5, 2.0]);
        assert_eq!(ticks(&(1.0..=2.0), true), [1.0, 2.0]);
        assert_eq!(ticks(&(2.0..=9.0), true), [2.0, 4.0, 6.0, 8.0]);
        assert_eq!(ticks(&(0.5..=90.0), false), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
    }

    #[test]
    fn every_narrow_range_of_every_decade_has_two_numbers_that_differ_as_they_are_written() {
        for decade in -9..=12 {
            for start in 10..100 {
                for factor in [ROOM * ROOM, 1.1, 1.3, 1.7, 2.5, 4.0, 7.0, 9.9, WIDE] {
                    let low = f64::from(start) * 10_f64.powi(decade);
                    let found = ticks(&(low..=low * factor), false);
                    assert!((3..=9).contains(&found.len()), "{low} × {factor}: {found:?}");
                    // Axes write six digits.
                    let written: Vec<String> = found.iter().map(|tick| format!("{tick:.5e}")).collect();
                    assert!(written.windows(2).all(|pair| pair[0] != pair[1]), "{written:?}");
                }
            }
        }
    }

    /// An axis to the right, and what its rows make of it.
    fn numbered(rows: &[Value]) -> Value {
        let mut own = json!({ "layer": [
            { "encoding": {
                "x": { "field": "low", "scale": { "type": "log" }, "axis": {} }, "x2": { "field": "high" }
            } },
            { "encoding": {
                "x": { "field": "median", "scale": { "type": "log" }, "axis": null }, "y": { "field": "row" }
            } },
        ] });
        number_axes(&mut own, rows);
        own
    }

    #[test]
    fn the_ends_of_intervals_count_and_what_is_wide_or_no_number_is_left_alone() {
        let rows =
            [json!({ "low": 8.7, "median": 9.0, "high": 9.3, "row": 1 }), json!({ "median": null, "high": "9999" })];
        let own = numbered(&rows);
        assert_eq!(own["layer"][0]["encoding"]["x"]["axis"], json!({ "values": [8.8, 9.0, 9.2] }));
        assert_eq!(
            own["layer"][1]["encoding"]["x"],
            json!({ "field": "median", "scale": { "type": "log" }, "axis": null })
        );
        let wide = numbered(&[json!({ "low": 1.0, "median": 2.0, "high": 40.0 })]);
        assert_eq!(wide["layer"][0]["encoding"]["x"]["axis"], json!({}));
        assert_eq!(numbered(&[])["layer"][0]["encoding"]["x"]["axis"], json!({}));
    }

    #[test]
    fn an_axis_with_ticks_of_its_own_gets_others_where_fewer_than_two_lie_on_it() {
        let own = |low: f64, high: f64| {
            let axis = json!({ "values": [0.1, 1, 10], "labelExpr": "datum.value" });
            let mut own = json!({ "encoding": { "x": { "field": "a", "scale": { "type": "log" }, "axis": axis } } });
            number_axes(&mut own, &[json!({ "a": low }), json!({ "a": high })]);
            own["encoding"]["x"]["axis"]["values"].clone()
        };
        assert_eq!(own(0.5, 11.0), json!([0.1, 1, 10]));
        assert_eq!(own(0.5, 9.5), json!([0.5, 1.0, 2.0, 5.0]));
        assert_eq!(own(0.9, 1.3), json!([0.9, 1.0, 1.1, 1.2, 1.3]));
    }

    #[test]
    fn a_single_number_has_an_axis_around_it() {
        let own = numbered(&[json!({ "low": 7.0, "median": 7.0, "high": 7.0 })]);
        let axis = &own["layer"][0]["encoding"]["x"];
        assert_eq!(axis["axis"]["values"], json!([6.9, 7.0, 7.1]));
        let domain = axis["scale"]["domain"].as_array().unwrap();
        assert!(domain[0].as_f64() < Some(6.9) && domain[1].as_f64() > Some(7.1), "{domain:?}");
    }
}
