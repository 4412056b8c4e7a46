//! Known answers.

use super::*;

const DATA: &str = r#"
    [[setting]]
    name = "rate"
    label = "requests per second"
    unit = ""
    least = 1
    most = 1000
    [[setting]]
    name = "wait"
    label = "a wait, of the others"
    unit = "ms"
    least = 0.1
    most = 100
    [[input]]
    name = "hop"
    label = "one hop"
    [[input.option]]
    name = "only"
    label = "as it is"
    note = "A hop."
    experiment = "pair"
    thread = "slow[free]"
    task = "fast[free]"
    [[output]]
    name = "under_way"
    label = "under way"
    panel = "number"
    formula = "rate * (wait + 2 * hop)"
    bound = { formula = "rate / 10", at = "most", objection = "their number", label = "a tenth of what comes in a second" }
    [[case]]
    name = "A service"
    rate = 100
    wait = 20
"#;

fn data() -> Calculator {
    toml::from_str(DATA).unwrap()
}

fn estimate(median: f64, low: f64, high: f64) -> Estimate {
    Estimate { median, interval: Some((low, high)), rounds: 20 }
}

fn apply(data: &Calculator, estimate: Estimate) -> Estimate {
    let output = &data.outputs[0];
    data.apply(&data.cases[0], &output.expression().unwrap(), "hop", estimate).unwrap()
}

#[test]
fn littles_law_and_the_interval_goes_through_the_formula() {
    let under_way = apply(&data(), estimate(5e-3, 4e-3, 7e-3));
    // A hundred a second, each there for 20 ms and two hops of 5 ms.
    assert!((under_way.median - 3.0).abs() < 1e-12);
    let (low, high) = under_way.interval.unwrap();
    assert!((low - 2.8).abs() < 1e-12 && (high - 3.4).abs() < 1e-12, "{low} {high}");
    let without = apply(&data(), Estimate { interval: None, ..estimate(5e-3, 0.0, 0.0) });
    assert_eq!(without.interval, None);
}

#[test]
fn a_bound_is_kept_or_broken_by_the_whole_interval() {
    let data = data();
    let keeps = |low, high| data.keeps(&data.cases[0], &data.outputs[0], &estimate(9.0, low, high)).unwrap().unwrap();
    assert_eq!(keeps(8.0, 10.0), Kept::Kept);
    assert_eq!(keeps(8.0, 10.1), Kept::Undecided);
    assert_eq!(keeps(10.1, 11.0), Kept::Broken);
    let alone = Estimate { interval: None, ..estimate(9.0, 0.0, 0.0) };
    assert_eq!(data.keeps(&data.cases[0], &data.outputs[0], &alone).unwrap(), Some(Kept::Undecided));
}

#[test]
fn formulas_are_read_aloud_with_their_brackets() {
    let spoken = |formula: &str| data().spoken(formula).unwrap();
    assert_eq!(spoken("rate * (wait + 2 * hop)"), "requests per second × (a wait + 2 × one hop)");
    assert_eq!(spoken("rate / (hop * 2) - (wait - 1)"), "requests per second / (one hop × 2) − (a wait − 1)");
}

#[test]
fn a_formula_has_one_input_once() {
    let mut data = data();
    for (formula, wanted) in [
        ("rate * hop * hop", "has 2 inputs"),
        ("rate * wait", "has 0 inputs"),
        ("rate * skip", "unknown name skip"),
        ("rate * hop[free]", "unknown name hop[free]"),
    ] {
        data.outputs[0].formula = formula.to_owned();
        let error = format!("{:#}", data.input_of(&data.outputs[0]).unwrap_err());
        assert!(error.contains(wanted), "{formula}: {error}");
    }
}

#[test]
fn a_formula_grows_with_its_input_and_its_bound_is_of_settings() {
    let mut data = data();
    assert!(data.output_is_sound(&data.outputs[0]).is_ok());
    for (formula, bound, wanted) in [
        ("rate / hop", "rate", "does not grow with hop"),
        ("rate * (1 - hop)", "rate", "does not grow with hop"),
        ("rate * hop", "rate * hop", "of settings alone"),
    ] {
        data.outputs[0].formula = formula.to_owned();
        data.outputs[0].bound.as_mut().unwrap().formula = bound.to_owned();
        let error = format!("{:#}", data.output_is_sound(&data.outputs[0]).unwrap_err());
        assert!(error.contains(wanted), "{formula}: {error}");
    }
}

#[test]
fn a_case_stands_on_steps_of_the_sliders_and_sets_what_there_is() {
    let data = data();
    assert!(data.case_is_sound(&data.cases[0]).is_ok());
    for (name, value, wanted) in [
        ("rate", 123.0, "no step at 123"),
        ("rate", -1.0, "must be above 0"),
        ("color", 1.0, "nothing to set that is called color"),
    ] {
        let mut case = data.cases[0].clone();
        case.values.insert(name.to_owned(), toml::Value::Float(value));
        let error = format!("{:#}", data.case_is_sound(&case).unwrap_err());
        assert!(error.contains(wanted), "{error}");
    }
    let steps = data.settings[1].steps();
    assert!((steps[0] - 0.1).abs() < 1e-12 && steps.last() == Some(&100.0) && steps.len() == 25, "{steps:?}");
}
