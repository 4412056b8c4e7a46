//! One operation: one event through an onramp, a pipeline and an offramp, each a tokio task, over tokio's bounded channels.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Error, Result};
use clap::Args;
use does_it_matter::pipeline::{Checker, EVENTS, Event, Onramp, Pipelines, Sink, Stage};
use harness::{Clock, Placement};
use runtime::Flavor;
use serde::Serialize;
use tokio::sync::mpsc::{self, Receiver, Sender, UnboundedReceiver};

fn pipeline_tokio(Parameters { pipelines, runtime }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let (says_done, mut done) = mpsc::unbounded_channel();
    let sink = Arc::new(Sink::new(move |done| _ = says_done.send(done)));
    let mut stages = Vec::new();
    let starts = pipelines.lay(mpsc::channel, mpsc::unbounded_channel, |stage| {
        stages.push(match stage {
            Stage::Onramp(onramp, starts, to) => runtime.spawn(feed(onramp, starts, to)),
            Stage::Pipeline(from, to) => runtime.spawn(pipeline(from, to)),
            Stage::Offramp(from, checker) => runtime.spawn(offramp(from, sink.clone(), checker)),
        });
        Ok(())
    })?;
    let share = pipelines.share();
    clock.time(EVENTS, |laps| {
        runtime.block_on(async {
            for () in laps {
                starts.iter().try_for_each(|start| start.send(share))?;
                done.recv().await.context("all stages have ended")?.map_err(Error::msg)?;
            }
            Ok(())
        })
    })?;
    drop(starts);
    stages.into_iter().try_for_each(|stage| runtime.block_on(stage)?)?;
    Ok(sink.arrived())
}

async fn feed(mut onramp: Onramp, mut starts: UnboundedReceiver<u64>, to: Sender<Event>) -> Result<()> {
    while let Some(events) = starts.recv().await {
        for _ in 0..events {
            to.send(onramp.decode()?).await.ok().context("the pipeline has ended")?;
        }
    }
    Ok(())
}

async fn pipeline(mut from: Receiver<Event>, to: Sender<Event>) -> Result<()> {
    while let Some(mut event) = from.recv().await {
        event.transform();
        to.send(event).await.ok().context("the offramp has ended")?;
    }
    Ok(())
}

async fn offramp(mut from: Receiver<Event>, sink: Arc<Sink>, mut checker: Checker) -> Result<()> {
    while let Some(event) = from.recv().await {
        sink.take(event, &mut checker)?;
    }
    Ok(())
}

#[derive(Args, Serialize)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    pipelines: Pipelines,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), pipeline_tokio)
}
