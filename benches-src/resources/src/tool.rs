//! Tools that this project did not write, as programs of their own: what they say on their output.

use std::collections::BTreeMap;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use harness::Unavailable;
use observation::Measure;

/// What a tool that this project did not write says on its output, or that it is not installed.
pub fn output_of(package: &str, command: &[&str]) -> Result<String> {
    let (tool, arguments) = command.split_first().expect("a command names a tool");
    let output = match Command::new(tool).args(arguments).stderr(Stdio::piped()).output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Unavailable::because(format!("{tool} is not installed; on Debian: apt-get install {package}")));
        }
        output => output.with_context(|| format!("cannot start {tool}"))?,
    };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{tool} ended with {}: {}", output.status, errors.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned() + &errors)
}

/// Where the first of these programs lies that is there. A name is looked for in PATH, and a path
/// is the place where its makers put it.
pub fn first_of(programs: &[impl AsRef<Path>], cure: &str) -> Result<PathBuf> {
    let folders: Vec<_> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    // A folder is of no concern to what is a whole path already.
    let places = programs.iter().flat_map(|program| folders.iter().map(move |folder| folder.join(program)));
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| Unavailable::because(cure))
}

/// What a process says on its standard output, once it has ended well.
pub fn said(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} ended with {}: {error}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The number that stands before these words.
pub fn number_before(words: &str, text: &str) -> Result<f64> {
    let before = text.split_once(words).map(|(before, _)| before.trim_end());
    let number = before.and_then(|before| before.rsplit(char::is_whitespace).next()?.parse().ok());
    number.with_context(|| format!("no number stands before {words:?} in: {text}"))
}

/// The number that stands after these words.
pub fn number_after(words: &str, text: &str) -> Result<f64> {
    let number = text.split_once(words).and_then(|(_, after)| after.split_whitespace().next()?.parse().ok());
    number.with_context(|| format!("no number stands after {words:?} in: {text}"))
}

/// A time of one operation that is known only as a whole, for programs that are done once.
pub fn elapsed_ns(ns: f64) -> BTreeMap<String, Measure> {
    BTreeMap::from([("elapsed".to_owned(), Measure { unit: "ns".to_owned(), values: vec![ns] })])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_beside_words() {
        let text = "     Total time: 0.745 [sec]\n\n      37.299200 usecs/op\n  26810 ops/sec\nT: 0 Min:     61 Avg:   63 Max: 72\n";
        assert_eq!(number_before(" usecs/op", text).unwrap(), 37.2992);
        assert_eq!(number_after("Avg:", text).unwrap(), 63.0);
        assert!(number_before(" furlongs", text).unwrap_err().to_string().contains("furlongs"));
        assert!(number_after("T:", "T: none").is_err());
    }

    #[test]
    fn a_tool_that_is_missing_is_unavailable_with_its_package() {
        let error = output_of("some-package", &["no-such-tool"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unavailable, because no-such-tool is not installed; on Debian: apt-get install some-package"
        );
        assert!(output_of("coreutils", &["false"]).unwrap_err().to_string().contains("exit status"));
        assert_eq!(output_of("coreutils", &["echo", "3 apples"]).unwrap(), "3 apples\n");
    }
    #[test]
    fn a_program_is_found_by_its_name_or_its_place_and_else_it_is_said_what_to_do() {
        assert!(first_of(&["no-such-program", "sh"], "").unwrap().ends_with("sh"));
        assert_eq!(first_of(&["no-such-program", "/bin/sh"], "").unwrap(), Path::new("/bin/sh"));
        let cure = "it is not installed; install it";
        let refused = first_of(&["no-such-program", "/no/such/program"], cure).unwrap_err();
        assert_eq!(refused.to_string(), format!("unavailable, because {cure}"));
    }

    #[test]
    fn what_a_process_says_is_known_if_it_ends_well() {
        assert_eq!(said(Command::new("echo").arg("3 apples")).unwrap(), "3 apples\n");
        assert!(said(&mut Command::new("false")).unwrap_err().to_string().contains("ended with exit status: 1"));
    }
}
