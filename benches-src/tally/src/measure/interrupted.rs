//! Being asked to stop, which ends nothing that is being measured in its middle.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};

use crate::record::Writer;

/// Told when somebody asks the session to stop.
#[derive(Clone)]
pub struct Interrupted(Arc<AtomicBool>);

impl Interrupted {
    /// From now on, Ctrl-C, a polite kill and a terminal that is closed are remembered instead of
    /// ending this process. What whoever started it had it ignore, as `nohup` does, stays ignored.
    pub fn listen() -> Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        let ignored = ignored_signals();
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
            if ignored >> (signal - 1) & 1 == 0 {
                signal_hook::flag::register(signal, flag.clone())?;
            }
        }
        Ok(Self(flag))
    }

    /// Whether somebody has asked to stop.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn check(&self, path: &Path) -> Result<()> {
        if self.is_asked() {
            bail!(
                "interrupted; what was measured so far is kept in {}. Run again to go on",
                Writer::partial(path).display()
            );
        }
        Ok(())
    }
}

/// The signals that this process ignores, a bit each, the first one's the lowest.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.unwrap_or(0)
}
