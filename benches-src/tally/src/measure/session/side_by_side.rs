//! Programs and those that they have taken the place of, in the same rounds.

use anyhow::Result;

use super::Session;
use crate::record::machine::State;
use crate::record::{End, Header, Record};

impl Session<'_> {
    /// Runs so many rounds of programs beside those that they have taken the place of, without
    /// another look and without doubling.
    pub fn side_by_side(self, header: Header, rounds: usize) -> Result<Record> {
        self.clear()?;
        self.rehearse(&header.cells)?;
        let (mut writer, mut record) = self.begin(header)?;
        self.rounds(&mut writer, &mut record, rounds, &mut None)?;
        let changed = record.header.machine.changed_since();
        let end = End { after: State::read(), headline_half_width: None, target: 0.0, doubled: false, changed };
        writer.finish(&record, &end)?;
        record.end = Some(end);
        Ok(record)
    }
}
