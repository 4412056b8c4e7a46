//! Looking at many things with all CPUs.

use std::sync::Mutex;
use std::thread;

/// What is found at each, in their order. What was looked at is forgotten at once, so that no more
/// is held than there are CPUs.
pub fn side_by_side<T: Send, F: Send>(all: Vec<T>, look: impl Fn(T) -> F + Sync) -> Vec<F> {
    let next = Mutex::new(all.into_iter().enumerate());
    let work = || {
        let mut found = Vec::new();
        loop {
            let Some((index, one)) = next.lock().expect("nobody panics while it is held").next() else { return found };
            found.push((index, look(one)));
        }
    };
    let mut found: Vec<(usize, F)> = thread::scope(|scope| {
        let workers: Vec<_> =
            (0..thread::available_parallelism().map_or(1, usize::from)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("looking does not panic")).collect()
    });
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, found)| found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_stands_in_the_order_of_what_was_looked_at() {
        assert_eq!(side_by_side((0..100).collect(), |own| 2 * own), (0..100).map(|own| 2 * own).collect::<Vec<i32>>());
        assert!(side_by_side(Vec::<i32>::new(), |own| own).is_empty());
    }
}
