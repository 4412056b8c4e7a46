//! Cases of a finding whose sentences differ in a few words: one sentence, in which these stand in
//! brackets.

use anyhow::{Result, ensure};

use super::Case;
use super::condition::UNCLEAR;

/// What a ratio has to be for each of its outcomes but the last, where that cannot be told.
pub fn of_ratio(name: &str) -> Vec<Vec<String>> {
    ['>', '<'].map(|sign| vec![format!("{name} {sign} 1")]).to_vec()
}

/// The sentence of a ratio with the words in brackets in which its outcomes differ. One that has
/// brackets says them itself.
pub fn with_brackets(name: &str, say: &str) -> String {
    let number = format!("{{{name}}}");
    match say.strip_suffix('.') {
        Some(before) if !say.contains('[') => {
            before.replacen(&number, &format!("[|only |]{number}"), 1) + &format!("{{{name}{UNCLEAR}}}.")
        }
        _ => say.to_owned(),
    }
}

/// A case for each of these conditions, and one for all that is left.
pub fn cases(mut conditions: Vec<Vec<String>>, say: &str) -> Result<Vec<Case>> {
    conditions.push(Vec::new());
    let of = conditions.len();
    let case = |(nth, when)| Ok(Case { when, say: words_of(say, nth, of)?, choice: None });
    conditions.into_iter().enumerate().map(case).collect()
}

/// The sentence of one of so many outcomes.
fn words_of(say: &str, nth: usize, of: usize) -> Result<String> {
    let mut words = String::new();
    let mut rest = say;
    while let Some((before, after)) = rest.split_once('[') {
        let closed = after.split_once(']').filter(|(inside, _)| !inside.contains('['));
        let Some((inside, after)) = closed else { anyhow::bail!("a bracket that is not closed in {say:?}") };
        let outcomes: Vec<&str> = inside.split('|').collect();
        ensure!(outcomes.len() == of, "[{inside}] has words for {} outcomes, of which there are {of}", outcomes.len());
        words = words + before + outcomes[nth];
        rest = after;
    }
    Ok(words + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(conditions: Vec<Vec<String>>, say: &str) -> Vec<String> {
        cases(conditions, say).unwrap().into_iter().map(|case| case.say).collect()
    }

    #[test]
    fn a_ratio_is_more_or_less_or_cannot_be_told_from_equal() {
        let say = with_brackets("r", "Threads cost {r}× as much as tasks.");
        let expected = [
            "Threads cost {r}× as much as tasks{r unclear}.",
            "Threads cost only {r}× as much as tasks{r unclear}.",
            "Threads cost {r}× as much as tasks{r unclear}.",
        ];
        assert_eq!(said(of_ratio("r"), &say), expected);
        assert_eq!(with_brackets("r", "It [rises|falls|may change] to {r}×."), "It [rises|falls|may change] to {r}×.");
        assert_eq!(of_ratio("r"), [["r > 1"], ["r < 1"]]);
    }

    #[test]
    fn brackets_have_words_for_every_outcome() {
        let when = || vec![vec!["a > 1".to_owned()]];
        assert_eq!(said(when(), "It takes [only |]{a}."), ["It takes only {a}.", "It takes {a}."]);
        assert_eq!(said(Vec::new(), "It takes {a}."), ["It takes {a}."]);
        for (say, reason) in
            [("[a|b|c].", "for 3 outcomes, of which there are 2"), ("[a", "not closed"), ("[a[|]]", "not closed")]
        {
            assert!(cases(when(), say).unwrap_err().to_string().contains(reason), "{say}");
        }
    }
}
