//! Where things stand, for old addresses: each names the page on which something once stood.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::print::downloads;
use crate::print::view::View;

/// Writes on which page each anchor stands, for the script that looks it up where a page lacks what
/// its address names. Rows of tables begin with their experiment's name.
pub fn write(view: &View) -> Result<()> {
    let mut places = BTreeMap::new();
    for plan in &view.plans.all {
        let page = format!("{}/programs.md", plan.chapter);
        places.extend(plan.all_programs().into_iter().map(|program| (program.to_owned(), page.clone())));
    }
    places.extend(view.places.homes().map(|(anchor, page)| (anchor.to_owned(), page.to_owned())));
    let addresses: BTreeMap<_, _> =
        places.into_iter().map(|(anchor, page)| (anchor, page.replace(".md", ".html"))).collect();
    let script = format!("window.places = {};\n", serde_json::to_string(&addresses)?);
    downloads::write(view, "places.js", &script).map(drop)
}
