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
        error.downcast_ref::<Self>().map(|own| own.0.clone()).or_else(|| refusal(&format!("{error:#}")))
    }

    /// The same of a panic: a library may count on what is refused here.
    pub(crate) fn unless_refused<T>(panic: Box<dyn std::any::Any + Send>) -> anyhow::Result<T> {
        let reason = panic.downcast_ref().and_then(|said: &String| refusal(said));
        Err(Self::because(reason.unwrap_or_else(|| std::panic::resume_unwind(panic))))
    }
}

/// What an error or a panic says, if it is that a call is refused whatever it asks for, or that a
/// file of the kernel's is not there. One of another process is not there if that has ended.
fn refusal(said: &str) -> Option<String> {
    const REFUSED: [&str; 5] = ["os error 1)", "os error 13)", "os error 38)", "PermissionDenied", "/proc mounted?"];
    let read = said.split_once("read /proc/");
    let of_kernel = read.is_some_and(|(_, file)| !file.starts_with(|c: char| c.is_ascii_digit()));
    let is_missing = of_kernel && said.contains("os error 2)");
    (is_missing || REFUSED.iter().any(|words| said.contains(words))).then(|| format!("it is refused here: {said}"))
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unavailable, because {}", self.0)
    }
}

impl std::error::Error for Unavailable {}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::Context;
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn what_is_refused_is_unavailable_and_what_goes_wrong_is_not() {
        let of = |number| anyhow::Error::new(io::Error::from_raw_os_error(number));
        let reason = Unavailable::reason_of(&of(libc::EPERM).context("a thread cannot be started")).unwrap();
        assert!(reason.starts_with("it is refused here: a thread cannot be started: "), "{reason}");
        assert!(Unavailable::reason_of(&Errno::NOSYS.into()).is_some());
        assert_eq!(Unavailable::reason_of(&of(libc::ENOMEM)), None);
    }

    #[test]
    fn a_file_of_the_kernels_may_be_missing_and_one_of_a_process_that_has_ended_may_not() {
        let read = |path: &'static str| std::fs::read(path).with_context(|| format!("cannot read {path}")).unwrap_err();
        let reason = Unavailable::reason_of(&read("/proc/no-such-file")).unwrap();
        assert!(reason.starts_with("it is refused here: cannot read /proc/no-such-file: No such file"), "{reason}");
        assert_eq!(Unavailable::reason_of(&read("/proc/4294967295/status")), None);
        assert_eq!(Unavailable::reason_of(&read("/no/such/file")), None);
    }

    #[test]
    fn a_panic_of_what_is_refused_is_no_failure_and_any_other_is() {
        let said = format!("polling: {:?}", io::Error::from_raw_os_error(libc::EPERM));
        let error = Unavailable::unless_refused::<()>(Box::new(said)).unwrap_err();
        assert!(Unavailable::reason_of(&error).unwrap().contains("it is refused here: polling: "), "{error:#}");
        let mistake = || Unavailable::unless_refused::<()>(Box::new("a mistake".to_owned()));
        assert!(std::panic::catch_unwind(mistake).is_err());
    }
}
