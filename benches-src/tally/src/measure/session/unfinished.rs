//! Going on with a session that was interrupted.

use anyhow::Result;

use super::Session;
use crate::record::{Header, Record, Writer, put_aside};
use crate::say;

impl Session<'_> {
    pub(super) fn begin(&self, header: Header) -> Result<(Writer, Record)> {
        let partial = Writer::partial(&self.path);
        // One that cannot be read, or that is of something else, is put aside and not lost.
        match Record::load_partial(&partial) {
            Ok(Some(left)) if differences(&left.header, &header).is_empty() => {
                let (chapter, name, runs) = (&self.plan.chapter, &self.experiment.name, left.runs.len());
                say!("tally: going on with {chapter}/{name}, of which {runs} processes have run");
                Ok((Writer::resume(&self.path, &left)?, left))
            }
            Ok(None) => Ok((Writer::create(&self.path, &header)?, Record { header, runs: Vec::new(), end: None })),
            Ok(Some(left)) => {
                let reason = differences(&left.header, &header).join(" and ");
                self.begin_after_another(header, &reason)
            }
            Err(error) => self.begin_after_another(header, &format!("{error:#}")),
        }
    }

    /// Puts an unfinished session aside that is not gone on with.
    fn begin_after_another(&self, header: Header, reason: &str) -> Result<(Writer, Record)> {
        let aside = put_aside(&Writer::partial(&self.path), &self.path, "abandoned")?;
        say!("tally: an unfinished session is put aside as {}, since {reason}", aside.display());
        self.begin(header)
    }
}

/// Why an unfinished session is not gone on with, given what would be measured now; nothing where
/// it is.
pub(super) fn differences(left: &Header, now: &Header) -> Vec<&'static str> {
    let same = [
        (left.format == now.format, "it is in another format"),
        (left.cells == now.cells && left.sources == now.sources, "it is of other sources"),
        (left.built == now.built, "other program files are built now"),
        (left.effort == now.effort, "it is with another effort"),
        (left.machine.differences(&now.machine).is_empty(), "it is of another machine"),
        (left.machine.compiler() == now.machine.compiler(), "it is by another compiler"),
        (left.before.boot == now.before.boot, "the machine was started anew since"),
    ];
    same.into_iter().filter(|(same, _)| !same).map(|(_, reason)| reason).collect()
}
