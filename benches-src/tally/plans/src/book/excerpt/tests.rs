use std::fs;
use std::path::Path;

use super::*;

/// Every program of the book: its file, and its code.
fn programs() -> Vec<(String, String)> {
    let benches = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let chapters = fs::read_dir(benches).unwrap().map(|entry| entry.unwrap().path().join("src/bin"));
    let files = chapters.filter(|folder| folder.is_dir()).flat_map(|folder| fs::read_dir(folder).unwrap());
    let paths = files.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    paths.map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap())).collect()
}

/// Whether each piece of an excerpt stands in the code as it is, but for how far to the right.
fn is_part(excerpt: &str, code: &str) -> bool {
    let trimmed = |text: &str| text.lines().map(|line| line.trim().to_owned() + "\n").collect::<String>();
    let code = trimmed(code);
    excerpt.split(LEFT_OUT).all(|piece| code.contains(&trimmed(piece)))
}

#[test]
fn every_program_has_an_excerpt_that_is_a_part_of_its_file_and_mostly_a_short_one() {
    let programs = programs();
    let mut long = Vec::new();
    for (file, code) in &programs {
        let Excerpt { timed, others } = Excerpt::cut(code).unwrap_or_else(|error| panic!("{file}: {error:#}"));
        assert!(is_part(&timed, code) && is_part(&others, code), "{file}:\n{timed}\n{others}");
        assert!(!timed.trim().is_empty() && !timed.starts_with(' '), "{file}:\n{timed}");
        let lines = timed.lines().count() + others.lines().count();
        if !(3..=30).contains(&lines) {
            long.push(format!("{lines} lines of {file}"));
        }
    }
    assert!(programs.len() > 100, "{} programs are found", programs.len());
    // Which these are, `cargo test -- --nocapture` says.
    crate::say!("shorter than 3 lines, or longer than 30:\n  {}", long.join("\n  "));
    assert!(10 * long.len() <= programs.len(), "too many are not of a length to be looked at: {long:#?}");
}

#[test]
fn a_loop_over_laps_is_found_in_whatever_function_it_stands() {
    let code = r#"
fn ring(parameters: Streams, clock: Clock) -> Result<u64> {
    let (mut driver, others) = parameters.link()?;
    let others = Threads::start(others, |link| pass_on(link, parameters))?;
    clock.time(parameters.hops, |laps| {
        for () in laps {
            driver.hop()?;
        }
        Ok(())
    })?;
    others.join()
}

/// Hands it on.
fn pass_on(link: Link, parameters: Streams) -> Result<u64> {
    while link.hop()? {
        count(&parameters);
    }
    Ok(1)
}

fn count(_: &Streams) {}

fn unused() {}

fn main() -> ExitCode {
    harness::run(ring)
}
"#;
    let Excerpt { timed, others } = Excerpt::cut(code).unwrap();
    assert_eq!(timed, "for () in laps {\n    driver.hop()?;\n}\n");
    assert!(
        others.starts_with("/// Hands it on.\nfn pass_on(") && others.ends_with("}\n// …\nfn count(_: &Streams) {}\n")
    );
    assert!(!others.contains("unused"), "{others}");
}

#[test]
fn what_is_started_without_a_name_is_shown_where_it_is_written_down() {
    let code = "
fn yields(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let other = spawn(move || {
        yield_now();
    });
    let mut count = 0;
    clock.time(1, |laps| {
        count += harness::drive(laps, || {
            yield_now();
        })?;
        Ok(())
    })?;
    Ok(count)
}
";
    let Excerpt { timed, others } = Excerpt::cut(code).unwrap();
    assert_eq!(timed, "count += harness::drive(laps, || {\n    yield_now();\n})?;\n");
    assert_eq!(others, "let other = spawn(move || {\n    yield_now();\n});\n");
}

#[test]
fn what_a_server_starts_for_a_client_is_its_timed_part() {
    let code = "
fn echo(listener: TcpListener) -> Result<()> {
    prepare();
    loop {
        let stream = listener.accept()?;
        thread::spawn(move || answer(stream));
    }
}

fn prepare() {}

fn answer(stream: TcpStream) {}

fn main() -> ExitCode {
    serving::main(harness::name!(), echo)
}
";
    assert_eq!(Excerpt::cut(code).unwrap().timed, "fn answer(stream: TcpStream) {}\n");
    let alone = code.replace("thread::spawn(move || answer(stream));", "");
    assert_eq!(Excerpt::cut(&alone).unwrap().timed, "fn prepare() {}\n", "what it calls, if it starts nothing");
}

#[test]
fn what_adds_units_and_what_is_its_own_measurement_are_timed_parts() {
    let code = "
fn hold(parameters: Threads, climb: Climb) -> Result<()> {
    let gate = Gate::default();
    let climbed = climb.add_units(|held, next| {
        more(next - held)
    });
    gate.open();
    climbed
}

fn main() -> ExitCode {
    memory::climb(harness::name!(), hold)
}
";
    let timed = Excerpt::cut(code).unwrap().timed;
    assert_eq!(timed, "let climbed = climb.add_units(|held, next| {\n    more(next - held)\n});\n");
    let code = "
fn pipe(_: Nothing, _: Placement, report: Report) -> Result<()> {
    report.give(output()?)
}

fn main() -> ExitCode {
    harness::once(harness::name!(), &MEASURES, pipe)
}
";
    assert_eq!(
        Excerpt::cut(code).unwrap().timed.lines().next().unwrap(),
        "fn pipe(_: Nothing, _: Placement, report: Report) -> Result<()> {"
    );
}

#[test]
fn what_is_asked_of_rivals_is_their_timed_part_in_any_language() {
    let code = "struct Tasks;

impl Rival for Tasks {
    fn hop(&mut self) {
        spawn(another);
    }
}

fn another() {}

fn main() -> ExitCode {
    rival::main(Tasks)
}
";
    let timed = Excerpt::cut(code).unwrap().timed;
    assert_eq!(timed, "fn hop(&mut self) {\n    spawn(another);\n}\n// …\nfn another() {}\n", "with what it calls");
    let code = "const PROTOCOL: &str = \"func main\";\nconst UNITS: &str = \"func hop\";\nfn main() {}\n";
    assert_eq!(Excerpt::cut(code).unwrap().timed, "const UNITS: &str = \"func hop\";\n");
}

#[test]
fn a_file_without_a_timed_part_is_refused() {
    for code in ["fn main() {}", "fn main() { for () in turns {} }", "impl Display for X { fn add(&self) {} }"] {
        assert!(Excerpt::cut(code).unwrap_err().to_string().contains("nothing of this file is timed"), "{code}");
    }
    assert!(Excerpt::cut("fn main( {}").unwrap_err().to_string().contains("no Rust"));
}
