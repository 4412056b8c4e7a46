//! One operation: one event through the pipelines of pipeline-smol, for which is counted how often
//! a stage goes on, and how often it does so on another worker than before. Both executors run the
//! same stages over the same channels.

use std::collections::BTreeMap;
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Error, Result, ensure};
use clap::{Args, ValueEnum};
use does_it_matter::pipeline::{Checker, EVENTS, Event, Onramp, Pipelines, Sink, Stage};
use harness::{Described, Placement, Report, described};
use observation::Measure;
use runtime::Flavor;
use serde::Serialize;
use smol::channel::{self, Receiver, Sender};

fn count_moves(Parameters { pipelines, executor }: Parameters, placement: Placement, report: Report) -> Result<()> {
    const LAPS: u64 = 16;
    let spawn = executor.start(placement)?;
    let (says_done, done) = channel::unbounded();
    let sink = Arc::new(Sink::new(move |done| _ = says_done.try_send(done)));
    let (says_moves, moves) = channel::unbounded();
    let starts = pipelines.lay(channel::bounded, channel::unbounded, |stage| {
        let says_moves = says_moves.clone();
        let stage: Boxed<Result<()>> = match stage {
            Stage::Onramp(onramp, starts, to) => Box::pin(feed(onramp, starts, to)),
            Stage::Pipeline(from, to) => Box::pin(pipeline(from, to)),
            Stage::Offramp(from, checker) => Box::pin(offramp(from, sink.clone(), checker)),
        };
        spawn(Box::pin(async move { _ = says_moves.try_send(watched(stage).await) }));
        Ok(())
    })?;
    drop(says_moves);
    for _ in 0..LAPS {
        starts.iter().try_for_each(|start| start.try_send(pipelines.share()))?;
        done.recv_blocking()?.map_err(Error::msg)?;
    }
    drop(starts);
    let mut all = Moves::default();
    while let Ok(own) = moves.recv_blocking() {
        let own = own?;
        all.resumed += own.resumed;
        all.moved += own.moved;
    }
    ensure!(sink.arrived() == LAPS * EVENTS, "{} events arrived", sink.arrived());
    let of_an_event = |count: u64| count as f64 / (LAPS * EVENTS) as f64;
    let values = [of_an_event(all.resumed), of_an_event(all.moved), all.moved as f64 / all.resumed as f64];
    let measure = |value| Measure { unit: "1".to_owned(), values: vec![value] };
    let named = MEASURES.iter().zip(values).map(|(own, value)| (own.name.to_owned(), measure(value)));
    report.give(BTreeMap::from_iter(named))
}

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

#[derive(Default)]
struct Moves {
    resumed: u64,
    moved: u64,
}

/// Runs a stage to its end.
async fn watched(stage: impl Future<Output = Result<()>>) -> Result<Moves> {
    let (mut stage, mut moves, mut last) = (pin!(stage), Moves::default(), None);
    poll_fn(|context| {
        let worker = thread::current().id();
        moves.resumed += 1;
        moves.moved += u64::from(last.is_some_and(|last| last != worker));
        last = Some(worker);
        stage.as_mut().poll(context)
    })
    .await?;
    Ok(moves)
}

async fn feed(mut onramp: Onramp, starts: Receiver<u64>, to: Sender<Event>) -> Result<()> {
    while let Ok(events) = starts.recv().await {
        for _ in 0..events {
            to.send(onramp.decode()?).await.ok().context("the pipeline has ended")?;
        }
    }
    Ok(())
}

async fn pipeline(from: Receiver<Event>, to: Sender<Event>) -> Result<()> {
    while let Ok(mut event) = from.recv().await {
        event.transform();
        to.send(event).await.ok().context("the offramp has ended")?;
    }
    Ok(())
}

async fn offramp(from: Receiver<Event>, sink: Arc<Sink>, mut checker: Checker) -> Result<()> {
    while let Ok(event) = from.recv().await {
        sink.take(event, &mut checker)?;
    }
    Ok(())
}

#[derive(ValueEnum, Serialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
enum Executor {
    /// smol's, with a worker for each CPU
    #[default]
    Smol,
    /// tokio's default runtime, with a worker for each CPU
    Tokio,
}

impl Executor {
    /// Starts its workers, which end with the process; what spawns a task on them.
    fn start(self, placement: Placement) -> Result<Box<dyn Fn(Boxed<()>)>> {
        if let Executor::Tokio = self {
            let runtime = Flavor::Multi.start(placement)?;
            return Ok(Box::new(move |stage| drop(runtime.spawn(stage))));
        }
        let executor = Arc::new(smol::Executor::new());
        for index in 0..thread::available_parallelism()?.get() {
            let executor = executor.clone();
            thread::spawn(move || {
                placement.pin_participant(index).expect("the placement was applied to the whole process before");
                smol::block_on(executor.run(pending::<()>()));
            });
        }
        Ok(Box::new(move |stage| executor.spawn(stage).detach()))
    }
}

#[derive(Args, Serialize)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    pipelines: Pipelines,
    /// Whose workers run the stages
    #[arg(long, value_enum, default_value_t)]
    executor: Executor,
}

const MEASURES: &[Described] = &[
    described("resumed", "1", "how often a stage goes on, for each event"),
    described("moved", "1", "how often a stage goes on on another worker than before, for each event"),
    described("moved_share", "1", "the second over the first"),
];

fn main() -> ExitCode {
    harness::once(harness::name!(), MEASURES, count_moves)
}
