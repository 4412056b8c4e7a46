//! Criterion decides how many laps a sample has; what each sample took is logged here, so nothing private of Criterion is read.

use std::cell::RefCell;
use std::time::Duration;

use anyhow::{Context, Result};
use criterion::{Criterion, SamplingMode};
use observation::{Histogram, Window};

use crate::command_line::HarnessFlags;
use crate::laps::{Instruments, Laps, Sample};

/// The samples of one process, and how many laps were done altogether, warm-up included.
pub struct Sampled {
    pub samples: Vec<Window>,
    /// Times of single laps in nanoseconds, where they were asked for.
    pub single_laps: Option<Histogram>,
    pub laps: u64,
}

/// What is timed. It is compiled as a function of its own, and once: else how it comes out would
/// depend on what it is called from.
pub type DoLaps<'a> = &'a mut dyn FnMut(Laps) -> Result<()>;

/// Takes samples as the flags ask: exactly so many laps, or as many as Criterion finds right.
pub fn take(
    do_laps: DoLaps,
    operations_per_lap: u64,
    flags: &HarnessFlags,
    instruments: Instruments,
) -> Result<Sampled> {
    let mut timed = |count, singly: bool| {
        let (laps, timed) = Laps::new(count, operations_per_lap, instruments);
        do_laps(if singly { laps.singly() } else { laps })?;
        timed.try_recv().context("the program left its laps before the last one was done")
    };
    let exactly = if flags.once { Some(1) } else { flags.iters };
    let Some(laps) = exactly.or(flags.histogram) else {
        return by_criterion(|laps| Ok(timed(laps, false)?.sample), flags);
    };
    if flags.warmups > 0 {
        timed(flags.warmups, false)?;
    }
    let measured = timed(laps, exactly.is_none())?;
    let single_laps = exactly.is_none().then(|| histogram(&measured.laps_ns)).transpose()?;
    Ok(Sampled { samples: vec![measured.sample.window()], single_laps, laps: flags.warmups + laps })
}

fn by_criterion(mut sample: impl FnMut(u64) -> Result<Sample>, flags: &HarnessFlags) -> Result<Sampled> {
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
        .bench_function("lap", |bencher| bencher.iter_custom(|laps| log.borrow_mut().add(laps, || sample(laps))));
    let log = log.into_inner();
    log.failure.map_or(Ok(()), Err)?;
    // What came before the last `samples` entries was the warm-up.
    let samples = log.samples[log.samples.len() - flags.samples as usize..].iter().map(Sample::window).collect();
    Ok(Sampled { samples, single_laps: None, laps: log.laps })
}

/// Criterion warms up with twice as many laps each time: what it asks for fits into fewer samples than a number has bits.
const MORE_THAN_WARM_UPS: usize = 64;

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

    use anyhow::ensure;
    use clap::FromArgMatches;
    use observation::Observation;

    use super::*;
    use crate::clock::Clock;
    use crate::command_line::command;
    use crate::counters::Counters;
    use crate::laps::Running;
    use crate::program::{observe, timed};

    thread_local! {
        static NOW_NS: Cell<u64> = const { Cell::new(0) };
        static EVENTS: Cell<u64> = const { Cell::new(0) };
    }

    const VIRTUAL: Instruments = Instruments { now: || NOW_NS.get(), counters: |_| Counters::of(EVENT, EVENTS.get()) };

    /// The name under which what happens on the virtual clock is counted.
    const EVENT: &str = "voluntary_switches";

    fn advance(ns: u64, events: u64) {
        NOW_NS.set(NOW_NS.get() + ns);
        EVENTS.set(EVENTS.get() + events);
    }

    /// Laps of five operations, each of which takes `ns` on the virtual clock and moves its counter by three.
    fn known(ns: u64, done: &Cell<u64>) -> impl FnMut(Laps) -> Result<()> {
        move |laps| {
            for () in laps {
                for _ in 0..5 {
                    advance(ns, 3);
                    done.set(done.get() + 1);
                }
            }
            Ok(())
        }
    }

    fn flags(words: &[&str]) -> HarnessFlags {
        let words = ["known"].into_iter().chain(words.iter().copied());
        let matches = command(|none| none).try_get_matches_from(words).unwrap();
        HarnessFlags::from_arg_matches(&matches).unwrap()
    }

    fn quick() -> HarnessFlags {
        flags(&["--warm-up-ms", "1", "--measurement-ms", "1"])
    }

    /// What a program comes to, on the virtual clock.
    fn seen(flags: &HarnessFlags, program: impl FnOnce(Clock) -> Result<u64>) -> Result<Observation> {
        observe("test/known", Ok(b"{}".to_vec()), flags, |observation| {
            timed(flags, VIRTUAL, observation, Box::new(|_, clock| program(clock)))
        })
    }

    #[test]
    fn criterion_reads_a_microsecond_as_a_microsecond_and_counters_divide_by_the_right_count() {
        let done = Cell::new(0);
        let sampled = take(&mut known(1000, &done), 5, &quick(), VIRTUAL).unwrap();
        assert_eq!(sampled.samples.len(), 10);
        for sample in &sampled.samples {
            assert!(sample.operations > 0);
            assert_eq!(sample.elapsed_ns, sample.operations * 1000);
            assert_eq!(sample.counters[EVENT], sample.operations * 3);
        }
        assert_eq!(sampled.laps * 5, done.get(), "warm-up laps are counted too");
    }

    #[test]
    fn an_empty_operation_takes_no_time() {
        let sampled = take(&mut known(0, &Cell::new(0)), 5, &flags(&["--iters", "1000"]), VIRTUAL).unwrap();
        assert_eq!((sampled.samples[0].operations, sampled.samples[0].elapsed_ns), (5000, 0));
    }

    #[test]
    fn iters_and_warmups_are_exact_and_only_iters_are_in_the_sample() {
        let done = Cell::new(0);
        let sampled = take(&mut known(7, &done), 5, &flags(&["--iters", "3", "--warmups", "2"]), VIRTUAL).unwrap();
        assert_eq!(sampled.samples.len(), 1);
        assert_eq!((sampled.samples[0].operations, done.get()), (15, 25));
    }

    #[test]
    fn single_laps_are_timed_one_by_one() {
        let done = Cell::new(0);
        let flags = flags(&["--histogram", "40", "--warmups", "2"]);
        let sampled = take(&mut known(100, &done), 5, &flags, VIRTUAL).unwrap();
        assert_eq!(sampled.single_laps.unwrap().buckets, [(500, 40)], "five operations of 100 ns, forty times");
        assert_eq!((sampled.samples[0].operations, sampled.samples[0].elapsed_ns), (200, 20_000));
        assert_eq!((sampled.laps * 5, done.get()), (210, 210));
    }

    #[test]
    fn what_a_program_counts_itself_is_that_of_all_laps_together() {
        let done = Cell::new(0);
        let seen = seen(&flags(&["--iters", "3", "--warmups", "2"]), |clock| {
            let counts = || [("calls".to_owned(), 1000 + 2 * done.get())].into();
            clock.counting(counts).time(5, known(1000, &done))?;
            Ok(done.get())
        })
        .unwrap();
        let whole_run = seen.whole_run.unwrap();
        assert_eq!((whole_run.operations, whole_run.counters["calls"]), (25, 50), "what the set-up counted is in none");
        assert!(!seen.samples[0].counters.contains_key("calls"));
    }

    #[test]
    fn what_is_done_before_the_first_lap_is_in_no_sample() {
        let mut preparing = |laps: Laps| {
            let laps = laps.into_iter();
            advance(40, 1000);
            laps.for_each(|()| advance(100, 5));
            Ok(())
        };
        let sampled = take(&mut preparing, 2, &flags(&["--iters", "4"]), VIRTUAL).unwrap();
        assert_eq!((sampled.samples[0].elapsed_ns, sampled.samples[0].counters[EVENT]), (400, 20));
        let sampled = take(&mut preparing, 2, &flags(&["--histogram", "6"]), VIRTUAL).unwrap();
        assert_eq!(sampled.single_laps.unwrap().buckets, [(100, 6)]);
        assert_eq!(sampled.samples[0].elapsed_ns, 600);
    }

    #[test]
    fn operations_may_say_themselves_what_they_took() {
        let mut telling = |laps: Laps| {
            let mut laps: Running = laps.into_iter();
            while laps.next().is_some() {
                advance(1000, 0);
                laps.took(20);
                laps.took(30);
            }
            Ok(())
        };
        let sampled = take(&mut telling, 2, &flags(&["--histogram", "3"]), VIRTUAL).unwrap();
        assert_eq!(sampled.single_laps.unwrap().buckets, [(20, 3), (30, 3)]);
        assert_eq!((sampled.samples[0].operations, sampled.samples[0].elapsed_ns), (6, 150));
    }

    #[test]
    fn a_failure_inside_criterion_is_the_result() {
        let mut done = 0;
        let mut failing = |laps: Laps| {
            for () in laps {
                done += 1;
                ensure!(done < 2, "a participant failed");
            }
            Ok(())
        };
        let error = take(&mut failing, 5, &quick(), VIRTUAL).err().unwrap();
        assert_eq!(error.to_string(), "a participant failed");
    }

    #[test]
    fn leaving_the_laps_early_is_an_error() {
        let mut leaving = |laps: Laps| {
            laps.into_iter().next();
            Ok(())
        };
        let error = take(&mut leaving, 5, &flags(&["--iters", "2"]), VIRTUAL).err().unwrap();
        assert!(error.to_string().contains("left its laps"), "{error}");
    }

    #[test]
    fn operations_that_were_not_done_are_an_error() {
        let lazy = seen(&flags(&["--once"]), |clock| {
            clock.time(5, |laps| {
                laps.into_iter().for_each(drop);
                Ok(())
            })?;
            Ok(0)
        });
        assert_eq!(lazy.unwrap_err().to_string(), "5 operations were asked for and 0 were done");
    }

    #[test]
    fn a_program_that_times_nothing_is_an_error() {
        assert_eq!(seen(&flags(&["--once"]), |_| Ok(0)).unwrap_err().to_string(), "the program timed nothing");
    }
}
