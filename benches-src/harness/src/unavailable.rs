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

    /// Said by the program itself, or of what the kernel, or a sandbox around this process, does
    /// not let it do.
    pub(crate) fn reason_of(error: &anyhow::Error) -> Option<String> {
        let own = error.downcast_ref::<Self>().map(|own| own.0.clone());
        own.or_else(|| error.chain().any(is_refused).then(|| format!("it is refused here: {error:#}")))
    }
}

/// Whether the kernel, or a sandbox, refuses a call whatever it asks for.
fn is_refused(cause: &(dyn std::error::Error + 'static)) -> bool {
    let by_std = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error);
    let number = by_std.or(cause.downcast_ref::<rustix::io::Errno>().map(|errno| errno.raw_os_error()));
    matches!(number, Some(libc::EPERM | libc::EACCES | libc::ENOSYS))
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unavailable, because {}", self.0)
    }
}

impl std::error::Error for Unavailable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_unavailable_and_what_goes_wrong_is_not() {
        let of = |number| anyhow::Error::new(std::io::Error::from_raw_os_error(number));
        let reason = Unavailable::reason_of(&of(libc::EPERM).context("a thread cannot be started")).unwrap();
        assert!(reason.starts_with("it is refused here: a thread cannot be started: "), "{reason}");
        assert!(Unavailable::reason_of(&rustix::io::Errno::NOSYS.into()).is_some());
        assert_eq!(Unavailable::reason_of(&of(libc::ENOMEM)), None);
    }
}
