//! One operation: one event through an onramp, a pipeline and an offramp, each a smol task, over smol's bounded channels.

use std::process::ExitCode;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use anyhow::{Context, Error, Result};
use does_it_matter::pipeline::{Checker, EVENTS, Event, Onramp, Pipelines, Sink, Stage};
use harness::{Clock, Placement};
use smol::Executor;
use smol::channel::{self, Receiver, Sender};

fn pipeline_smol(pipelines: Pipelines, placement: Placement, clock: Clock) -> Result<u64> {
    let executor = Arc::new(Executor::new());
    let (says_done, done) = channel::unbounded();
    let sink = Arc::new(Sink::new(move |done| _ = says_done.try_send(done)));
    let mut stages = Vec::new();
    let starts = pipelines.lay(channel::bounded, channel::unbounded, |stage| {
        stages.push(match stage {
            Stage::Onramp(onramp, starts, to) => executor.spawn(feed(onramp, starts, to)),
            Stage::Pipeline(from, to) => executor.spawn(pipeline(from, to)),
            Stage::Offramp(from, checker) => executor.spawn(offramp(from, sink.clone(), checker)),
        });
        Ok(())
    })?;
    let (running, ended) = channel::bounded(1);
    let workers = work(executor, ended, placement)?;
    let share = pipelines.share();
    clock.time(EVENTS, |laps| {
        for () in laps {
            starts.iter().try_for_each(|start| start.try_send(share))?;
            done.recv_blocking()?.map_err(Error::msg)?;
        }
        Ok(())
    })?;
    drop(starts);
    stages.into_iter().try_for_each(smol::block_on)?;
    drop(running);
    workers.into_iter().for_each(|worker| worker.join().expect("a worker panicked"));
    Ok(sink.arrived())
}

/// A thread for each CPU that this process may use. They end when `ended` closes: nothing is ever sent over it.
fn work(executor: Arc<Executor<'static>>, ended: Receiver<()>, placement: Placement) -> Result<Vec<JoinHandle<()>>> {
    let worker = |index| {
        let (executor, ended) = (executor.clone(), ended.clone());
        thread::spawn(move || {
            placement.pin_participant(index).expect("the placement was applied to the whole process before");
            let _ = smol::block_on(executor.run(ended.recv()));
        })
    };
    Ok((0..thread::available_parallelism()?.get()).map(worker).collect())
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

fn main() -> ExitCode {
    harness::repeat(harness::name!(), pipeline_smol)
}
