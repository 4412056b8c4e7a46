use serde_json::json;

use super::*;

#[test]
fn why_there_is_no_picture_is_one_line_without_anybodys_folders() {
    let folder = Path::new("/home/somebody/book/charts");
    let missing = "node:internal/modules:1\n  throw\nError: Cannot find package 'vega' from \
                   /home/somebody/book/charts/draw.mjs\n    at a\n";
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

#[test]
fn every_shape_has_a_narrow_form_of_which_each_change_changes_something() {
    let project = Project::at(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))).unwrap();
    for shape in ["dots", "dumbbell", "ecdf", "ladder", "scatter", "stack", "sweep"] {
        let [wide, narrow] = shapes(&project, shape).unwrap();
        assert!(narrow["width"].as_f64() < wide["width"].as_f64(), "{shape}");
        assert!(narrow["usermeta"].is_null(), "{shape}: its width is as it is written");
    }
}

#[test]
fn a_change_is_made_where_its_path_leads_or_refused() {
    let spec = || json!({ "a/b": 1, "list": [{ "size": 12 }, { "size": 14 }] });
    let changed = |change: Value| -> Result<Value> {
        let mut own = spec();
        serde_json::from_value::<Change>(change)?.apply(&mut own)?;
        Ok(own)
    };
    let list = |change: Value| changed(change).unwrap()["list"].clone();
    let op = |op: &str, path: &str, value: i32| json!({ "op": op, "path": path, "value": value });
    assert_eq!(list(op("replace", "/list/1/size", 13)), json!([{ "size": 12 }, { "size": 13 }]));
    assert_eq!(list(op("replace", "/list/0", 5)), json!([5, { "size": 14 }]));
    assert_eq!(list(op("add", "/list/1", 5)), json!([{ "size": 12 }, 5, { "size": 14 }]));
    assert_eq!(list(op("add", "/list/2", 5)), json!([{ "size": 12 }, { "size": 14 }, 5]));
    assert_eq!(list(op("add", "/list/0/dx", 5)), json!([{ "size": 12, "dx": 5 }, { "size": 14 }]));
    assert_eq!(list(json!({ "op": "remove", "path": "/list/0" })), json!([{ "size": 14 }]));
    assert_eq!(changed(json!({ "op": "remove", "path": "/a~1b" })).unwrap(), json!({ "list": spec()["list"] }));
    assert_eq!(changed(json!({ "op": "replace", "path": "/a~1b", "value": null })).unwrap()["a/b"], Value::Null);
    for (wrong, reason) in [
        (op("replace", "/list/2/size", 5), "at /list/2/size: there is nothing"),
        (op("replace", "/list/0/dx", 5), "at /list/0/dx: there is nothing"),
        (op("replace", "/list/0/size", 12), "this value is there already"),
        (op("add", "/list/0/size", 5), "a value is there already"),
        (op("add", "/list/3", 5), "there is nothing"),
        (op("add", "/list/0/size/x", 5), "there is nothing"),
        (json!({ "op": "remove", "path": "/list/2" }), "there is nothing"),
        (json!({ "op": "remove", "path": "/b" }), "there is nothing"),
        (op("add", "list", 5), "a path begins with /"),
        (op("move", "/list", 5), "unknown variant `move`"),
    ] {
        let error = format!("{:#}", changed(wrong).unwrap_err());
        assert!(error.contains(reason), "{reason}: {error}");
    }
}
