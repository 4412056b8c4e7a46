//! A task that does the laps of a sample: it has to own what it does them with, as every task must, and ends with them.

use anyhow::{Context, Result};
use tokio::runtime::Runtime;

/// What such a task is lent, and gives back when its laps are done.
pub struct Lent<T>(Option<T>);

impl<T: Send + 'static> Lent<T> {
    /// Lies here until the first task wants it.
    pub fn new(own: T) -> Self {
        Self(Some(own))
    }

    /// Has a task of this runtime do some work with it; what the work came to. An error if it fails, and ever after.
    pub fn to_a_task<W, R>(&mut self, runtime: &Runtime, work: impl FnOnce(T) -> W) -> Result<R>
    where
        W: Future<Output = Result<(T, R)>> + Send + 'static,
        R: Send + 'static,
    {
        let own = self.0.take().context("a task before this one failed")?;
        let (own, result) = runtime.block_on(runtime.spawn(work(own)))??;
        self.0 = Some(own);
        Ok(result)
    }
}
