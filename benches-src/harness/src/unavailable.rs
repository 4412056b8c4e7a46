//! How a program says that this machine cannot run it.

use std::any::Any;
use std::error::Error;
use std::io;
use std::panic::resume_unwind;

use rustix::io::Errno;

/// An error that means: this machine cannot run this cell, for this reason. The program still prints its observation,
/// with the reason in place of the samples.
#[derive(Debug)]
pub struct Unavailable(String);

impl Unavailable {
    /// The error, ready to be returned.
    pub fn because(reason: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Self(reason.into()))
    }

    /// What a library panics of, since it counts on what is refused here, is no failure of the program's either.
    pub(crate) fn unless_refused<T>(panic: Box<dyn Any + Send>) -> anyhow::Result<T> {
        let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        // With and without its number, as an error is shown to people and in panics.
        let words = REFUSED.map(Errno::from_raw_os_error).map(words_of);
        match said {
            Some(said) if words.iter().any(|words| said.contains(words.as_str())) => {
                Err(Self::because(format!("it is refused here: {said}")))
            }
            _ => resume_unwind(panic),
        }
    }

    /// Said by the program itself, or of what the kernel, or a sandbox around this process, does not let it do.
    pub(crate) fn reason_of(error: &anyhow::Error) -> Option<String> {
        let own = error.downcast_ref::<Self>().map(|own| own.0.clone());
        own.or_else(|| error.chain().any(is_refused).then(|| format!("it is refused here: {error:#}")))
    }
}

/// What an error says, without its number.
fn words_of(error: Errno) -> String {
    let words = io::Error::from(error).to_string();
    words.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Errors by which the kernel, or a sandbox, refuses a call whatever it asks for.
const REFUSED: [i32; 3] = [libc::EPERM, libc::EACCES, libc::ENOSYS];

fn is_refused(cause: &(dyn Error + 'static)) -> bool {
    let by_std = cause.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
    let by_rustix = cause.downcast_ref::<Errno>().map(|errno| errno.raw_os_error());
    by_std.or(by_rustix).is_some_and(|number| REFUSED.contains(&number))
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unavailable, because {}", self.0)
    }
}

impl Error for Unavailable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_unavailable_and_what_goes_wrong_is_not() {
        let refused =
            anyhow::Error::new(io::Error::from_raw_os_error(libc::EPERM)).context("a thread cannot be started");
        let reason = Unavailable::reason_of(&refused).unwrap();
        assert!(reason.starts_with("it is refused here: a thread cannot be started: "), "{reason}");
        assert!(Unavailable::reason_of(&Errno::NOSYS.into()).is_some());
        assert_eq!(Unavailable::reason_of(&io::Error::from_raw_os_error(libc::ENOMEM).into()), None);
        let of_library: anyhow::Result<()> = Unavailable::unless_refused(Box::new(format!("polling: {}", Errno::PERM)));
        assert!(Unavailable::reason_of(&of_library.unwrap_err()).is_some());
        assert!(std::panic::catch_unwind(|| Unavailable::unless_refused::<()>(Box::new("a mistake"))).is_err());
    }
}
