//! How much of the harness is compiled once for each program, and not once for all. What is generic
//! over a program is compiled with each of them: with all of Criterion, clap and serde_json behind
//! it, 169 programs took three times as long to compile.

use std::collections::BTreeMap;
use std::process::Command;

/// The least programs there are, one of each entry, and how many bytes of machine code may be
/// compiled with each. On 27 November 2026 these had 32,378 and 5,425; a real one, `loop-socket`,
/// has 9,430, and had 151,319 before the harness was compiled once.
const PROGRAMS: [(&str, u64); 2] = [("clock", 40_000), ("nothing", 8_000)];

#[test]
fn a_program_is_compiled_with_little_of_the_harness() {
    for (program, most) in PROGRAMS {
        let built = std::env::current_exe().unwrap();
        let path = built.ancestors().nth(2).unwrap().join("examples").join(program);
        let symbols = Command::new("readelf").args(["--symbols", "--wide"]).arg(&path).output();
        let symbols = symbols.expect("readelf, which comes with every C compiler, cannot be started");
        assert!(symbols.status.success(), "{}", String::from_utf8_lossy(&symbols.stderr));
        let bytes = bytes_of_files(&String::from_utf8(symbols.stdout).unwrap());
        let own = bytes.iter().find(|(file, _)| file.starts_with(&format!("{program}."))).map(|(_, bytes)| *bytes);
        let own = own.unwrap_or_else(|| panic!("{program} is no file of {bytes:?}"));
        println!("{program}: {own} bytes, to be at most {most}");
        assert!((1..=most).contains(&own), "{program}: {own} bytes are compiled with it, to be at most {most}");
    }
}

/// The functions of each object that was linked: before them stands its name, as the one of a file.
fn bytes_of_files(symbols: &str) -> BTreeMap<String, u64> {
    let (mut bytes, mut file) = (BTreeMap::new(), String::new());
    for line in symbols.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            [_, _, _, "FILE", _, _, _, name] => file = name.to_owned(),
            [_, _, size, "FUNC", "LOCAL", ..] => {
                *bytes.entry(file.clone()).or_default() += size.parse::<u64>().unwrap_or(0)
            }
            _ => {}
        }
    }
    bytes
}
