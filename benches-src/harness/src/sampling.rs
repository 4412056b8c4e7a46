//! Criterion decides how many laps a sample has; what each sample took is logged here, so nothing private of Criterion is read.

use std::cell::RefCell;
use std::time::Duration;

use anyhow::{Context, Result};
use criterion::{Criterion, SamplingMode};
use observation::{Histogram, Window};

use crate::clock::{Instruments, Laps, Sample};
use crate::command_line::HarnessFlags;
use crate::repeat::Repeat;

/// The samples of one process, and how many laps were done altogether, warm-up included.
pub struct Sampled {
    pub samples: Vec<Window>,
    /// Times of single laps in nanoseconds, where they were asked for.
    pub single_laps: Option<Histogram>,
    pub laps: u64,
}

/// Takes samples as the flags ask: exactly so many laps, or as many as Criterion finds right.
pub fn take<R: Repeat>(subject: &mut R, flags: &HarnessFlags, instruments: Instruments) -> Result<Sampled> {
    let exactly = if flags.once { Some(1) } else { flags.iters };
    let Some(laps) = exactly.or(flags.histogram) else {
        return by_criterion(subject, flags, instruments);
    };
    if flags.warmups > 0 {
        run(subject, flags.warmups, instruments)?;
    }
    let (samples, single_laps) = match exactly {
        Some(laps) => (vec![run(subject, laps, instruments)?], None),
        None => {
            let (sample, single_laps) = run_singly(subject, laps, instruments)?;
            (vec![sample], Some(single_laps))
        }
    };
    Ok(Sampled { samples: windows(&samples), single_laps, laps: flags.warmups + laps })
}

fn by_criterion<R: Repeat>(subject: &mut R, flags: &HarnessFlags, instruments: Instruments) -> Result<Sampled> {
    // Criterion writes reports of its own that nothing reads, and prints its own interval, which covers one process only.
    let reports = tempfile::tempdir().context("no temporary folder for Criterion's reports; is the disk full?")?;
    let _silenced = Silenced::stdout()?;
    let log = RefCell::new(Log {
        samples: Vec::with_capacity(MORE_THAN_WARM_UPS + flags.samples as usize),
        ..Log::default()
    });
    Criterion::default()
        .output_directory(reports.path())
        .without_plots()
        .sample_size(flags.samples as usize)
        .nresamples(1001)
        .warm_up_time(Duration::from_millis(flags.warm_up_ms))
        .measurement_time(Duration::from_millis(flags.measurement_ms))
        .benchmark_group("program")
        .sampling_mode(SamplingMode::Flat)
        .bench_function("lap", |bencher| {
            bencher.iter_custom(|laps| log.borrow_mut().add(laps, || run(subject, laps, instruments)))
        });
    let log = log.into_inner();
    log.failure.map_or(Ok(()), Err)?;
    // What came before the last `samples` entries was the warm-up.
    let samples = windows(&log.samples[log.samples.len() - flags.samples as usize..]);
    Ok(Sampled { samples, single_laps: None, laps: log.laps })
}

/// Criterion warms up with twice as many laps each time: what it asks for fits into fewer samples than a number has bits.
const MORE_THAN_WARM_UPS: usize = 64;

fn windows(samples: &[Sample]) -> Vec<Window> {
    samples.iter().map(Sample::window).collect()
}

#[derive(Default)]
struct Log {
    samples: Vec<Sample>,
    laps: u64,
    failure: Option<anyhow::Error>,
}

impl Log {
    /// Takes one sample and keeps it. After a failure nothing more is run: Criterion cannot be told to stop, so it gets
    /// a made-up duration for what it still asks for, and its caller gets the failure instead of any sample.
    fn add(&mut self, laps: u64, sample: impl FnOnce() -> Result<Sample>) -> Duration {
        const MADE_UP: Duration = Duration::from_millis(10);
        if self.failure.is_some() {
            std::thread::sleep(MADE_UP);
            return MADE_UP;
        }
        match sample() {
            Ok(sample) => {
                self.laps += laps;
                self.samples.push(sample);
                Duration::from_nanos(sample.elapsed_ns)
            }
            Err(failure) => {
                self.failure = Some(failure);
                MADE_UP
            }
        }
    }
}

fn run<R: Repeat>(subject: &mut R, count: u64, instruments: Instruments) -> Result<Sample> {
    let (laps, timed) = Laps::new(count, subject.operations_per_lap(), instruments);
    subject.run(laps)?;
    Ok(timed.try_recv().context(LEFT_EARLY)?.sample)
}

const LEFT_EARLY: &str = "the program left its laps before the last one was done";

fn run_singly<R: Repeat>(subject: &mut R, count: u64, instruments: Instruments) -> Result<(Sample, Histogram)> {
    let (laps, timed) = Laps::new(count, subject.operations_per_lap(), instruments);
    subject.run(laps.singly())?;
    let timed = timed.try_recv().context(LEFT_EARLY)?;
    Ok((timed.sample, histogram(&timed.laps_ns)?))
}

/// Counts in buckets that are at most a thousandth of their value wide.
fn histogram(values_ns: &[u64]) -> Result<Histogram> {
    let mut counts = hdrhistogram::Histogram::<u64>::new(3)?;
    for value in values_ns {
        counts.record(*value)?;
    }
    let buckets = counts.iter_recorded().map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()));
    Ok(Histogram { unit: "ns".to_owned(), buckets: buckets.collect() })
}

/// Standard output sent to nowhere for as long as this lives.
struct Silenced {
    original: std::os::fd::OwnedFd,
}

impl Silenced {
    fn stdout() -> Result<Self> {
        let original = rustix::io::dup(rustix::stdio::stdout())?;
        rustix::stdio::dup2_stdout(std::fs::File::options().write(true).open("/dev/null")?)?;
        Ok(Self { original })
    }
}

impl Drop for Silenced {
    fn drop(&mut self) {
        rustix::stdio::dup2_stdout(&self.original).expect("a descriptor that was just duplicated can be put back");
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use anyhow::ensure;

    use clap::{Args, Parser};
    use serde::Serialize;

    use super::*;
    use crate::Placement;
    use crate::clock::Running;
    use crate::command_line::CommandLine;
    use crate::counters::Counters;

    thread_local! {
        static NOW_NS: Cell<u64> = const { Cell::new(0) };
        static EVENTS: Cell<u64> = const { Cell::new(0) };
    }

    const VIRTUAL: Instruments = Instruments { now: || NOW_NS.get(), counters: |_| Counters::of(EVENT, EVENTS.get()) };

    /// The name under which what happens on the virtual clock is counted.
    const EVENT: &str = "voluntary_switches";

    #[derive(Args, Serialize)]
    struct Nothing {}

    /// Five operations a lap, each of which takes `ns` on the virtual clock and moves its counter by three.
    struct Known {
        ns: u64,
        done: u64,
        fail_after: u64,
        leave_after: u64,
    }

    impl Known {
        fn taking(ns: u64) -> Self {
            Self { ns, done: 0, fail_after: u64::MAX, leave_after: u64::MAX }
        }
    }

    impl Repeat for Known {
        type Parameters = Nothing;

        fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
            Ok(Self::taking(1000))
        }

        fn operations_per_lap(&self) -> u64 {
            5
        }

        fn run(&mut self, laps: Laps) -> Result<()> {
            for () in laps {
                for _ in 0..5 {
                    NOW_NS.set(NOW_NS.get() + self.ns);
                    EVENTS.set(EVENTS.get() + 3);
                    self.done += 1;
                }
                ensure!(self.done < self.fail_after, "a participant failed");
                if self.done >= self.leave_after {
                    return Ok(());
                }
            }
            Ok(())
        }

        fn counts(&self) -> BTreeMap<String, u64> {
            [("calls".to_owned(), 1000 + 2 * self.done)].into()
        }

        fn finish(self) -> Result<u64> {
            Ok(self.done)
        }
    }

    /// Does this with its laps, by operations that a test alone knows of.
    struct Doing(fn(&mut Running));

    impl Repeat for Doing {
        type Parameters = Nothing;

        fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
            unreachable!("a test says what is done")
        }

        fn operations_per_lap(&self) -> u64 {
            2
        }

        fn run(&mut self, laps: Laps) -> Result<()> {
            (self.0)(&mut laps.into_iter());
            Ok(())
        }

        fn finish(self) -> Result<u64> {
            unreachable!("a test takes samples alone")
        }
    }

    fn flags(words: &[&str]) -> HarnessFlags {
        let words = ["known"].into_iter().chain(words.iter().copied());
        CommandLine::<Nothing>::try_parse_from(words).unwrap().harness
    }

    fn quick() -> HarnessFlags {
        flags(&["--warm-up-ms", "1", "--measurement-ms", "1"])
    }

    #[test]
    fn criterion_reads_a_microsecond_as_a_microsecond_and_counters_divide_by_the_right_count() {
        let mut subject = Known::taking(1000);
        let sampled = take(&mut subject, &quick(), VIRTUAL).unwrap();
        assert_eq!(sampled.samples.len(), 10);
        for sample in &sampled.samples {
            assert!(sample.operations > 0);
            assert_eq!(sample.elapsed_ns, sample.operations * 1000);
            assert_eq!(sample.counters[EVENT], sample.operations * 3);
        }
        assert_eq!(sampled.laps * 5, subject.finish().unwrap(), "warm-up laps are counted too");
    }

    #[test]
    fn an_empty_operation_takes_no_time() {
        let sampled = take(&mut Known::taking(0), &flags(&["--iters", "1000"]), VIRTUAL).unwrap();
        assert_eq!((sampled.samples[0].operations, sampled.samples[0].elapsed_ns), (5000, 0));
    }

    #[test]
    fn iters_and_warmups_are_exact_and_only_iters_are_in_the_sample() {
        let mut subject = Known::taking(7);
        let sampled = take(&mut subject, &flags(&["--iters", "3", "--warmups", "2"]), VIRTUAL).unwrap();
        assert_eq!(sampled.samples.len(), 1);
        assert_eq!(sampled.samples[0].operations, 15);
        assert_eq!(subject.done, 25);
    }

    #[test]
    fn single_laps_are_timed_one_by_one() {
        let mut subject = Known::taking(100);
        let sampled = take(&mut subject, &flags(&["--histogram", "40", "--warmups", "2"]), VIRTUAL).unwrap();
        assert_eq!(sampled.single_laps.unwrap().buckets, [(500, 40)], "five operations of 100 ns, forty times");
        assert_eq!((sampled.samples[0].operations, sampled.samples[0].elapsed_ns), (200, 20_000));
        assert_eq!((sampled.laps * 5, subject.done), (210, 210));
    }

    #[test]
    fn what_a_program_counts_itself_is_that_of_all_laps_together() {
        let flags = flags(&["--iters", "3", "--warmups", "2"]);
        let seen = crate::repeat::observe::<Known>("test/known", &Nothing {}, &flags, VIRTUAL).unwrap();
        let whole_run = seen.whole_run.unwrap();
        assert_eq!((whole_run.operations, whole_run.counters["calls"]), (25, 50), "what the set-up counted is in none");
        assert!(!seen.samples[0].counters.contains_key("calls"));
    }

    #[test]
    fn what_is_done_before_the_first_lap_is_in_no_sample() {
        let mut preparing = Doing(|laps| {
            let advance = |ns, events| {
                NOW_NS.set(NOW_NS.get() + ns);
                EVENTS.set(EVENTS.get() + events);
            };
            advance(40, 1000);
            laps.for_each(|()| advance(100, 5));
        });
        let sampled = take(&mut preparing, &flags(&["--iters", "4"]), VIRTUAL).unwrap();
        assert_eq!((sampled.samples[0].elapsed_ns, sampled.samples[0].counters[EVENT]), (400, 20));
        let sampled = take(&mut preparing, &flags(&["--histogram", "6"]), VIRTUAL).unwrap();
        assert_eq!(sampled.single_laps.unwrap().buckets, [(100, 6)]);
        assert_eq!(sampled.samples[0].elapsed_ns, 600);
    }

    #[test]
    fn operations_may_say_themselves_what_they_took() {
        let mut telling = Doing(|laps| {
            while laps.next().is_some() {
                NOW_NS.set(NOW_NS.get() + 1000);
                laps.took(20);
                laps.took(30);
            }
        });
        let sampled = take(&mut telling, &flags(&["--histogram", "3"]), VIRTUAL).unwrap();
        assert_eq!(sampled.single_laps.unwrap().buckets, [(20, 3), (30, 3)]);
        assert_eq!((sampled.samples[0].operations, sampled.samples[0].elapsed_ns), (6, 150));
    }

    #[test]
    fn a_failure_inside_criterion_is_the_result() {
        let mut subject = Known { fail_after: 10, ..Known::taking(1000) };
        let error = take(&mut subject, &quick(), VIRTUAL).err().unwrap();
        assert_eq!(error.to_string(), "a participant failed");
    }

    #[test]
    fn leaving_the_laps_early_is_an_error() {
        let mut subject = Known { leave_after: 5, ..Known::taking(1000) };
        let error = take(&mut subject, &flags(&["--iters", "2"]), VIRTUAL).err().unwrap();
        assert!(error.to_string().contains("left its laps"), "{error}");
    }

    #[test]
    fn operations_that_were_not_done_are_an_error() {
        struct Lazy;
        impl Repeat for Lazy {
            type Parameters = Nothing;
            fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
                Ok(Self)
            }
            fn operations_per_lap(&self) -> u64 {
                5
            }
            fn run(&mut self, laps: Laps) -> Result<()> {
                laps.into_iter().for_each(drop);
                Ok(())
            }
            fn finish(self) -> Result<u64> {
                Ok(0)
            }
        }
        let result = crate::repeat::observe::<Lazy>("test/lazy", &Nothing {}, &flags(&["--once"]), VIRTUAL);
        assert_eq!(result.unwrap_err().to_string(), "5 operations were asked for and 0 were done");
    }
}
