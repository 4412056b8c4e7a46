use serde_json::json;

use super::*;

#[test]
fn why_there_is_no_picture_is_one_line_without_anybodys_folders() {
    let folder = Path::new("/home/somebody/book/charts");
    let missing = "node:internal/modules:1\n  throw\nError: Cannot find package 'vega' from /home/somebody/book/charts/draw.mjs\n    at a\n";
    assert_eq!(reason(missing, folder), "Error: Cannot find package 'vega' from book/charts/draw.mjs");
    assert_eq!(reason("", folder), "without a word");
    assert!(with_cure(reason(missing, folder)).ends_with(CURE), "a package is missing");
    assert_eq!(with_cure("Error: invalid".to_owned()), "Error: invalid");
}

#[test]
fn only_the_axis_of_what_is_swept_gets_room_for_0() {
    let axis = |field: &str| json!({ "field": field, "scale": { "type": "log" }, "axis": {} });
    let mut spec = json!({ "layer": [{ "encoding": { "x": axis("x"), "y": axis("median") } }] });
    make_room_for_0(&mut spec, &json!([0, 1, 10]));
    let encoding = &spec["layer"][0]["encoding"];
    assert_eq!(encoding["x"]["scale"]["type"], "symlog");
    assert_eq!(encoding["x"]["axis"]["values"], json!([0, 1, 10]));
    assert_eq!(encoding["y"], axis("median"));
}
