//! Draws charts: a Vega-Lite file without data, rows that tally supplies, and a Node script that
//! turns both into SVG. Each picture is kept by the hash of everything it depends on, so that a
//! build with nothing changed starts no Node.

mod layout;
mod patch;
mod pencil;
mod ticks;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use regex::{Captures, Regex};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::project::Project;
use crate::record::checksum::hash;
use crate::record::private::literal;
use crate::say;

pub use layout::{row_height, set_lanes};
use patch::Change;
pub use pencil::{Packages, Pencil};

/// What is to be drawn.
#[derive(Serialize)]
pub struct Request {
    /// Put before every id in the picture, since all pages end up on one to print.
    pub prefix: String,
    /// The picture's title, read aloud.
    pub title: String,
    /// Its description, read aloud.
    pub description: String,
    /// The specification for wide pages, with its rows.
    pub wide: Value,
    /// The same for a phone.
    pub narrow: Value,
}

/// Two drawings of the same rows.
#[derive(Serialize, Deserialize)]
pub struct Drawn {
    pub wide: String,
    /// For a phone.
    pub narrow: String,
}

/// A file of book/charts.
fn read<T: DeserializeOwned>(project: &Project, name: &str) -> Result<T> {
    let path = project.charts().join(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("in {}", path.display()))
}

/// The wide specification of a shape, and the narrow one, as the files have them.
fn shapes(project: &Project, shape: &str) -> Result<[Value; 2]> {
    let wide: Value = read(project, &format!("{shape}.vl.json"))?;
    ensure!(wide["data"]["name"] == "rows", "book/charts/{shape}.vl.json: its data source is not named \"rows\"");
    let changes = format!("{shape}-narrow.patch.json");
    let mut narrow = wide.clone();
    for change in read::<Vec<Change>>(project, &changes)? {
        change.apply(&mut narrow).with_context(|| format!("in book/charts/{changes}"))?;
    }
    Ok([wide, narrow])
}

/// A specification with its rows and the titles of its axes, each with the word that stands for it
/// in the file.
fn filled(mut spec: Value, config: &Value, rows: &[Value], titles: &[(&str, &str)]) -> Value {
    spec["datasets"] = serde_json::json!({ "rows": rows });
    spec["config"] = config.clone();
    layout::lay_out(&mut spec, rows);
    set_titles(&mut spec, titles);
    let mut xs: Vec<f64> = rows.iter().filter_map(|row| row["x"].as_f64()).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    if xs.first() == Some(&0.0) {
        make_room_for_0(&mut spec, &Value::from(xs));
    }
    ticks::number_axes(&mut spec, rows);
    spec
}

/// A logarithmic axis has no place for 0: where something stands there, the axis is linear up to 1,
/// and has a tick at each point.
fn make_room_for_0(spec: &mut Value, ticks: &Value) {
    change_each(spec, &mut |value| {
        if value["field"] == "x" && value["scale"]["type"] == "log" {
            value["scale"]["type"] = "symlog".into();
            value["axis"]["values"] = ticks.clone();
        }
    });
}

/// A text such as `"$axis"` stands for a title wherever a specification has it.
fn set_titles(spec: &mut Value, titles: &[(&str, &str)]) {
    change_each(spec, &mut |value| {
        let title = titles.iter().find(|(word, _)| *value == **word);
        if let Some((_, title)) = title {
            *value = (*title).into();
        }
    });
}

/// Changes a value, and then everything in it.
fn change_each(value: &mut Value, change: &mut impl FnMut(&mut Value)) {
    change(value);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| change_each(item, change)),
        Value::Object(fields) => fields.values_mut().for_each(|field| change_each(field, change)),
        _ => {}
    }
}

/// The specifications of the wide and of the narrow drawing of a shape. Each says what there is for
/// who edits it; a live chart is read aloud by this, as the picture is.
pub fn specifications(
    project: &Project,
    shape: &str,
    rows: &[Value],
    titles: &[(&str, &str)],
    description: &str,
) -> Result<[Value; 2]> {
    let config: Value = read(project, "config.json")?;
    Ok(shapes(project, shape)?.map(|spec| {
        let mut own = filled(spec, &config, rows, titles);
        own["description"] = description.into();
        own
    }))
}

/// Takes away where marks lead: only mdBook, which sees the picture of a page, knows where its
/// pages lie.
pub fn take_links(spec: &mut Value) {
    change_each(spec, &mut |value| {
        if let Value::Object(fields) = value {
            fields.retain(|name, _| name != "href" && name != "way");
        }
    });
}

/// A specification as a browser draws it. Vega measures text there by its font's name, and
/// "inherit" is none: names of rows would be cut.
pub fn live(specification: &Value) -> Value {
    let mut specification = specification.clone();
    take_links(&mut specification);
    set_titles(&mut specification, &[("inherit", LIVE_FONT)]);
    specification
}

/// What mdBook's pages are set in.
const LIVE_FONT: &str = "\"Open Sans\", sans-serif";

/// The picture outside a page, where no style sheet gives it colours: those of the light theme, on
/// white.
pub fn standalone(project: &Project, svg: &str) -> Result<String> {
    let path = project.root().join("book/theme/book.css");
    let css = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    static VARIABLE: LazyLock<Regex> = LazyLock::new(|| literal(r"var\((--c-[a-z]+)\)"));
    let coloured = VARIABLE.replace_all(svg, |found: &Captures| {
        // The first definition in the file is the light one.
        let value = css.split_once(&format!("{}:", &found[1])).and_then(|(_, rest)| rest.split(';').next());
        value.unwrap_or("#333").trim().to_owned()
    });
    let coloured =
        coloured.replace("currentColor", "#333").replace("font-family=\"inherit\"", "font-family=\"sans-serif\"");
    Ok(coloured.replacen("<svg ", "<svg style=\"background:#fff\" ", 1) + "\n")
}

/// The line of an error that a page can show: what went wrong, and not whose folders lie where.
fn reason(said: &str, folder: &Path) -> String {
    let line = said.lines().find(|line| line.contains("Error")).or(said.lines().next()).unwrap_or("without a word");
    line.trim().replace(&*folder.to_string_lossy(), "book/charts")
}

/// A package that cannot be found may be one of many that were deleted, while what says that all
/// were fetched is still there.
fn with_cure(reason: String) -> String {
    if reason.contains("Cannot find") { format!("{reason}. {CURE}") } else { reason }
}

/// What helps where packages are missing.
const CURE: &str = "Delete book/charts/node_modules and build again, with access to the npm registry";

/// Why pages may have no pictures.
const NO_NODE: &str = "Node.js 20 or newer was not found, so that no chart is drawn but those that were before; the \
                       tables have all their numbers";

/// The oldest Node that draws.
const OLDEST_NODE: u32 = 20;

/// Whether there is a Node that can draw.
pub fn find_node() -> Result<()> {
    let output = Command::new("node").arg("--version").output().context(NO_NODE)?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let major = version.strip_prefix('v').and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    ensure!(major.is_some_and(|major| major >= OLDEST_NODE), "{NO_NODE} (there is one of version {version:?})");
    Ok(())
}

/// The folder of Vega's scripts among the files for download.
pub const VEGA: &str = "vega";

/// Puts our own copy of Vega among the files for download, where pages find it when somebody asks
/// for a live chart.
pub fn copy_vega(project: &Project) -> Result<()> {
    let folder = project.generated().join(VEGA);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for name in ["vega", "vega-lite", "vega-embed"] {
        let file = format!("{name}.min.js");
        let from = project.charts().join("node_modules").join(name).join("build").join(&file);
        let bytes = fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?;
        // Written only where it differs, so that `mdbook serve` is not set off by itself.
        if fs::read(folder.join(&file)).is_ok_and(|old| old == bytes) {
            continue;
        }
        fs::write(folder.join(&file), bytes)
            .with_context(|| format!("cannot write {}", folder.join(&file).display()))?;
    }
    Ok(())
}

/// Where it is noted which packages were fetched.
fn stamp(project: &Project) -> PathBuf {
    project.charts().join("node_modules/.fetched")
}

/// What is noted there when the locked packages were.
fn wanted(project: &Project) -> Result<String> {
    let lock = fs::read(project.charts().join("package-lock.json"));
    Ok(hash(&lock.context("cannot read book/charts/package-lock.json")?))
}

fn are_fetched(project: &Project) -> Result<bool> {
    let wanted = wanted(project)?;
    Ok(fs::read_to_string(stamp(project)).is_ok_and(|fetched| fetched == wanted))
}

/// One process at a time: npm begins by deleting what another may just have fetched.
fn one_at_a_time(project: &Project) -> Result<File> {
    let path = project.drawn().join("packages.lock");
    fs::create_dir_all(project.drawn()).with_context(|| format!("cannot make {}", project.drawn().display()))?;
    let file = File::create(&path).with_context(|| format!("cannot open {}", path.display()))?;
    file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    Ok(file)
}

/// Where it is noted why packages could not be fetched.
fn refusal(project: &Project) -> PathBuf {
    project.drawn().join("packages.refused")
}

/// Who rebuilds at every change must not wait for the registry each time: after it could not be
/// reached it is left alone for a while.
const ASK_AGAIN: Duration = Duration::from_secs(600);

fn refused_before(project: &Project) -> Result<()> {
    let path = refusal(project);
    let age = fs::metadata(&path).and_then(|file| file.modified()).ok().and_then(|time| time.elapsed().ok());
    match (age, fs::read_to_string(&path)) {
        (Some(age), Ok(reason)) if age < ASK_AGAIN => {
            bail!("{reason} (so it was {} seconds ago; remove {} to try again at once)", age.as_secs(), path.display())
        }
        _ => Ok(()),
    }
}

/// Makes sure that the locked npm packages are there.
pub fn fetch_packages(project: &Project) -> Result<()> {
    if are_fetched(project)? {
        return Ok(());
    }
    let _alone = one_at_a_time(project)?;
    if are_fetched(project)? {
        // By the process that this one waited for.
        return Ok(());
    }
    // What npm leaves half done must not look as if it were whole.
    let _ = fs::remove_file(stamp(project));
    find_node()?;
    refused_before(project)?;
    say!("tally: fetching the packages that draw charts, for at most a minute or two");
    let output = Command::new("npm")
        .args(["ci", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1", "--fetch-timeout=30000"])
        .args(["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=2000"])
        .current_dir(project.charts())
        .output()
        .context("npm was not found; it comes with Node.js")?;
    if !output.status.success() {
        let reason =
            format!("npm ci failed in book/charts: {}. {CURE}", String::from_utf8_lossy(&output.stderr).trim());
        let _ = fs::write(refusal(project), &reason);
        bail!(reason);
    }
    let _ = fs::remove_file(refusal(project));
    fs::write(stamp(project), wanted(project)?)?;
    Ok(())
}

#[cfg(test)]
mod tests;
