//! What the kernel answers where a sandbox may refuse to be asked.

use std::panic::{UnwindSafe, catch_unwind, set_hook, take_hook};

/// The answer of a call that rustix takes to be infallible; none where it is refused, which rustix
/// finds out by a debug assertion: its profile in Cargo.toml has them.
pub fn answered<T>(call: impl FnOnce() -> T + UnwindSafe) -> Option<T> {
    let usual = take_hook();
    set_hook(Box::new(|_| {}));
    let answer = catch_unwind(call).ok();
    set_hook(usual);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_is_refused_has_no_answer() {
        assert_eq!(answered(|| 7), Some(7));
        assert_eq!(answered::<u8>(|| panic!("EPERM")), None);
    }

    /// `ci/faults` takes the calls away; this says at once why they would pass for answered.
    #[test]
    fn the_assertions_of_rustix_are_compiled() {
        let manifest: toml::Table = toml::from_str(include_str!("../../Cargo.toml")).unwrap();
        assert_eq!(manifest["profile"]["dev"]["package"]["rustix"]["debug-assertions"].as_bool(), Some(true));
    }
}
