//! How much room the rows of a figure take: names beside its plot, or above each row on a phone,
//! and the dots of a row below each other.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::change_each;

/// A line of a name, and a dot with what is around it, in pixels.
const LINE: f64 = 15.0;
const LANE: f64 = 12.0;
/// Between the names of two rows, and between their dots.
const BETWEEN_NAMES: f64 = 7.0;
const BETWEEN_DOTS: f64 = 3.0;

/// On a phone, what a row has below its name, around its dots. They stand this half above its end,
/// as the files have it.
const BELOW_NAME: f64 = 32.0;

/// Between two columns.
const BETWEEN_COLUMNS: f64 = 20.0;

/// However long the names are, the plots keep so many pixels.
const NARROWEST_PLOT: f64 = 240.0;

/// How high a row is with its name beside the plot, in so many lines, and so many dots below each
/// other.
pub fn row_height(lines: usize, lanes: usize) -> f64 {
    (LINE * lines as f64 + BETWEEN_NAMES).max(LANE * lanes as f64 + BETWEEN_DOTS)
}

/// By how many pixels each dot stands below the middle of its row (`down`), and the highest of that
/// row above it (`up`): the reference machine's above the one that is shown, and below it what was
/// published, each by itself, since its year stands beside it.
pub fn set_lanes(dots: &mut [Value]) {
    const ORDER: [&str; 3] = ["reference", "here", "published"];
    let lane = |dot: &Value| (ORDER.iter().position(|who| dot["who"] == *who), dot["note"].to_string());
    let mut taken: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
    for dot in &*dots {
        taken.entry(dot["name"].to_string()).or_default().insert(lane(dot));
    }
    for dot in dots {
        let own = &taken[&dot["name"].to_string()];
        let (above, up) = (own.range(..lane(dot)).count() as f64, (own.len() - 1) as f64 / 2.0);
        dot["down"] = json!((above - up) * LANE);
        dot["up"] = json!(up * LANE);
    }
}

/// Gives plots their width, rows their height, and what has columns a plot for each, side by side
/// where there is room.
pub fn lay_out(spec: &mut Value, rows: &[Value]) {
    let room = spec["usermeta"]["room"].as_f64();
    if spec["height"]["step"].is_number()
        && let Some(field) = spec["encoding"]["y"]["field"].as_str()
    {
        let lines =
            rows.iter().filter_map(|row| row[field].as_str()).map(|name| name.lines().count()).max().unwrap_or(1);
        let lanes = lanes(rows);
        spec["height"]["step"] = match room {
            Some(_) => row_height(lines, lanes),
            None => LINE * lines as f64 + BELOW_NAME + LANE * (lanes - 1) as f64,
        }
        .into();
    }
    let Some(room) = room else { return };
    let mut heads: Vec<&Value> = Vec::new();
    for head in rows.iter().filter_map(|row| row.get("column")) {
        if !heads.contains(&head) {
            heads.push(head);
        }
    }
    let columns = heads.len().max(1) as f64;
    let plots = (room - names_room(rows)).max(NARROWEST_PLOT) - BETWEEN_COLUMNS * (columns - 1.0);
    spec["width"] = (plots / columns).round().into();
    if heads.len() > 1 {
        in_columns(spec, &heads);
    }
}

/// The most dots that a row has below each other: of what has no lanes, one.
fn lanes(rows: &[Value]) -> usize {
    let highest = rows.iter().filter_map(|row| row["up"].as_f64()).fold(0.0, f64::max);
    (2.0 * highest / LANE).round() as usize + 1
}

/// A plot for each column, with one title below all of them.
fn in_columns(spec: &mut Value, heads: &[&Value]) {
    const OF_EACH: [&str; 4] = ["width", "height", "encoding", "layer"];
    let mut each = json!({});
    for field in OF_EACH {
        each[field] = spec[field].take();
        spec.as_object_mut().expect("a specification is an object").remove(field);
    }
    share_axes(&mut each, heads.len() as u64);
    let header = json!({ "title": "$axis", "titleOrient": "bottom", "labelOrient": "top" });
    spec["facet"] = json!({ "column": { "field": "column", "type": "nominal", "sort": heads, "header": header } });
    spec["spacing"] = BETWEEN_COLUMNS.into();
    spec["spec"] = each;
}

/// Each plot has its share of the numbers on an axis, of a logarithmic one the powers of ten, and
/// leaves the title to all of them.
fn share_axes(spec: &mut Value, plots: u64) {
    const POWERS: std::ops::RangeInclusive<i32> = -9..=12;
    change_each(spec, &mut |value| {
        let Some(count) = value["axis"]["tickCount"].as_u64() else { return };
        value["axis"]["title"] = Value::Null;
        value["axis"]["tickCount"] = (count / plots).max(3).into();
        if value["scale"]["type"] == "log" {
            value["axis"]["values"] = POWERS.map(|power| 10_f64.powi(power)).collect();
            // Of more than so many, Vega leaves out every second one.
            value["axis"]["tickCount"] = POWERS.count().into();
        }
    });
}

/// How many pixels the longest line of a name takes, with what is around plot and names. A letter
/// takes what draw.mjs supposes.
fn names_room(rows: &[Value]) -> f64 {
    const LETTER: f64 = 13.0 * 0.55;
    const AROUND: f64 = 60.0;
    let lines = rows.iter().filter_map(|row| row["label"].as_str()).flat_map(str::lines);
    AROUND + LETTER * lines.map(|line| line.chars().count()).max().unwrap_or(0) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(name: &str, who: &str, note: &str) -> Value {
        json!({ "label": name, "name": name, "column": "", "who": who, "note": note })
    }

    #[test]
    fn dots_of_a_row_stand_below_each_other_around_its_middle() {
        let mut dots = [
            dot("a", "here", ""),
            dot("b", "here", ""),
            dot("b", "published", "2020"),
            dot("b", "reference", ""),
            dot("b", "published", "2013"),
        ];
        set_lanes(&mut dots);
        assert_eq!(dots.each_ref().map(|dot| dot["down"].as_f64().unwrap() / LANE), [0.0, -0.5, 1.5, -1.5, 0.5]);
        assert_eq!(dots.each_ref().map(|dot| dot["up"].as_f64().unwrap() / LANE), [0.0, 1.5, 1.5, 1.5, 1.5]);
    }

    /// A specification with rows, for a page or for a phone.
    fn specification(usermeta: Value) -> Value {
        let axis = json!({ "title": "$axis", "tickCount": 6 });
        json!({
            "usermeta": usermeta, "width": 310, "height": { "step": 40 }, "layer": [],
            "encoding": { "y": { "field": "label" }, "x": { "scale": { "type": "log" }, "axis": axis } },
        })
    }

    #[test]
    fn a_row_is_as_high_as_its_name_or_its_dots() {
        let step = |usermeta: &Value, dots: &mut [Value]| {
            set_lanes(dots);
            let mut spec = specification(usermeta.clone());
            lay_out(&mut spec, dots);
            spec["height"]["step"].as_f64().unwrap()
        };
        let (wide, narrow) = (json!({ "room": 740 }), Value::Null);
        let three = || [dot("a", "here", ""), dot("a", "reference", ""), dot("a", "published", "2020")];
        for (dots, on_a_page, on_a_phone) in [
            (&mut [dot("a", "here", "")][..], 22.0, 47.0),
            (&mut [dot("a", "here", ""), dot("a\nb", "here", "")], 37.0, 62.0),
            (&mut three(), 39.0, 71.0),
        ] {
            assert_eq!((step(&wide, dots), step(&narrow, dots)), (on_a_page, on_a_phone));
        }
    }

    #[test]
    fn columns_stand_side_by_side_in_the_order_of_their_rows_and_on_a_page_only() {
        let mut rows = [dot("a", "here", ""), dot("a", "here", ""), dot("a", "here", "")];
        for (row, column) in rows.iter_mut().zip(["unpinned", "on one CPU", "unpinned"]) {
            row["column"] = column.into();
        }
        let mut spec = specification(json!({ "room": 740 }));
        lay_out(&mut spec, &rows);
        assert_eq!(spec["facet"]["column"]["sort"], json!(["unpinned", "on one CPU"]));
        assert_eq!(spec["facet"]["column"]["header"]["title"], "$axis", "one title for both");
        let x = &spec["spec"]["encoding"]["x"]["axis"];
        assert_eq!((&x["title"], &x["tickCount"], x["values"][9].as_f64()), (&Value::Null, &json!(22), Some(1.0)));
        let width = spec["spec"]["width"].as_f64().unwrap();
        assert!((300.0..340.0).contains(&width) && spec.get("width").is_none(), "{width}");
        let mut narrow = specification(Value::Null);
        lay_out(&mut narrow, &rows);
        assert_eq!((narrow.get("facet"), &narrow["width"]), (None, &json!(310)));
    }
}
