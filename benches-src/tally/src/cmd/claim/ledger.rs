//! The ledger of all claims: a table with rows for each, one for each part.

use anyhow::Result;

use super::counts::Counts;
use super::{Judged, claim_link, is_published, sentence, source_of};
use crate::print::escape::html;
use crate::print::render;
use crate::print::view::View;

/// All claims: those that others published, and folded below them what this book expected. There is
/// more of it, and fewer come for it.
pub fn ledger(view: &View, claims: Vec<Judged>) -> Result<String> {
    let (mut published, mut predicted) = (Vec::new(), Vec::new());
    for judged in claims {
        if is_published(view, judged.claim)? { published.push(judged) } else { predicted.push(judged) }
    }
    let mut out = rows_of(view, &mut published, "What others have published", "published")?;
    if !predicted.is_empty() {
        let own = rows_of(view, &mut predicted, "What this book expected before it measured", "predicted")?;
        let count = predicted.len();
        out += &format!(
            "<details class=\"numbers\"><summary>All {count} predictions of this book, and what became of them\
             </summary>\n{own}</details>\n"
        );
    }
    Ok(out)
}

/// A table of claims in the order of their numbers, below the head of their source; nothing where
/// there are none.
fn rows_of(view: &View, claims: &mut [Judged], caption: &str, figure: &str) -> Result<String> {
    if claims.is_empty() {
        return Ok(String::new());
    }
    claims.sort_by_key(|judged| judged.claim.place());
    let mut sources: Vec<&str> = Vec::new();
    for judged in claims.iter() {
        if !sources.contains(&&*judged.claim.source) {
            sources.push(&judged.claim.source);
        }
    }
    let mut rows = String::new();
    for source in sources {
        rows += &head_of(view, source)?;
        let own = claims.iter().filter(|judged| judged.claim.source == source);
        rows += &own.map(|judged| judged.rows(view)).collect::<Result<String>>()?;
    }
    Ok(format!(
        "{}<table class=\"ledger\">\n<caption><span>{caption}</span></caption>\n<thead><tr><th scope=\"col\">id</th>\
         <th scope=\"col\">claim</th><th scope=\"col\">part</th><th scope=\"col\">{figure}</th><th scope=\"col\">here\
         </th>\
         <th scope=\"col\">verdict here, and by machines</th></tr></thead>\n{rows}</table>\n</div>\n",
        render::wide(caption)
    ))
}

/// Who published the claims that follow.
fn head_of(view: &View, source: &str) -> Result<String> {
    let publication = view.published.publication(source)?;
    let (url, title, date) = (source_of(view, publication), html(&publication.title), html(&publication.date));
    Ok(format!(
        "<tbody>\n<tr><th class=\"source\" colspan=\"6\" scope=\"rowgroup\"><cite><a href=\"{url}\">{title}</a>, \
         {date}</cite></th></tr>\n</tbody>\n"
    ))
}

impl Judged<'_> {
    /// Its rows in the ledger, one for each part, which all stand beside its words.
    fn rows(&self, view: &View) -> Result<String> {
        let publication = view.published.publication(&self.claim.source)?;
        let (class, parts) = (self.verdict().class(), self.parts.len());
        let (mut out, mut above) = (format!("<tbody class=\"{class}\">\n"), String::new());
        for (index, part) in self.parts.iter().enumerate() {
            let [mut claim, mut verdict] = [String::new(), String::new()];
            if index == 0 {
                claim = format!(
                    "<th scope=\"rowgroup\" rowspan=\"{parts}\">{}</th><td rowspan=\"{parts}\">{}</td>",
                    claim_link(view, self.chapter, self.claim),
                    sentence(self.claim, publication)
                );
                let (words, machines) = (self.cell(view)?, Counts::of(view, self.claim)?.in_short());
                let machines = machines.map_or(String::new(), |words| format!(" <span class=\"among\">{words}</span>"));
                verdict = format!("<td class=\"verdict\" rowspan=\"{parts}\">{words}{machines}</td>");
            }
            let here = part.here(view)?;
            let is_as_above = part.missing().is_some() && here == above;
            let shown = if is_as_above { "as above" } else { &here };
            out += &format!(
                "<tr>{claim}<td class=\"part\">{}</td><td class=\"figure\">{}</td><td class=\"figure\">{shown}\
                 </td>{verdict}</tr>\n",
                html(&part.part.name),
                html(&part.published()),
            );
            above = here;
        }
        Ok(out + "</tbody>\n")
    }
}
