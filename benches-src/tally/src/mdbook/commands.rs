//! Commands other than tally's, which `book.toml` lists: the real mdbook-cmdrun runs them. It
//! brings more packages than tally has, so it is compiled only with the feature `cmdrun`.

use anyhow::Result;
#[cfg(feature = "cmdrun")]
use {anyhow::bail, mdbook_cmdrun::CmdRun};

/// What a command prints, or an error if it fails. It is run by a shell in this folder.
#[cfg(feature = "cmdrun")]
pub fn run(command: &str, folder: &str, inline: bool) -> Result<String> {
    let printed = CmdRun::run_cmdrun(format!("--strict {command}"), folder, inline)?;
    // That a command failed stands in what is returned, in one of these ways; a command may print
    // the first words of it and be well.
    if let Some(error) = printed.strip_prefix("**cmdrun error**: ")
        && (error.starts_with(&format!("'{command}' returned exit code "))
            || error.contains(&format!(" in 'cmdrun {command}'")))
    {
        let lines: Vec<&str> = error.lines().filter(|line| !line.trim().is_empty()).take(4).collect();
        bail!("{}", lines.join("\n  "));
    }
    // What comes after this preprocessor would read it for directives of mdBook's.
    Ok(printed.replace("{{#", "\\{{#"))
}

/// An error that says how to build tally so that it can run commands.
#[cfg(not(feature = "cmdrun"))]
pub fn run(command: &str, _folder: &str, _inline: bool) -> Result<String> {
    anyhow::bail!(
        "`{command}` was not run: this tally was built without mdbook-cmdrun, which runs what \
         book.toml lists; in book.toml, add `--features cmdrun` after `cargo run` in command of [preprocessor.cmdrun]"
    )
}
