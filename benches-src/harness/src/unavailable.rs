//! How a program says that this machine cannot run it.

/// An error that means: this machine cannot run this cell, for this reason. The program still prints its observation,
/// with the reason in place of the samples.
#[derive(Debug)]
pub struct Unavailable(String);

impl Unavailable {
    /// The error, ready to be returned.
    pub fn because(reason: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Self(reason.into()))
    }

    pub(crate) fn reason_of(error: &anyhow::Error) -> Option<&str> {
        error.downcast_ref::<Self>().map(|own| own.0.as_str())
    }
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unavailable, because {}", self.0)
    }
}

impl std::error::Error for Unavailable {}
