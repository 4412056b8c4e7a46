//! One operation: one event through an onramp, a pipeline and an offramp, each a thread, over bounded channels.

use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::thread;

use anyhow::{Context, Error, Result};
use clap::Args;
use does_it_matter::pipeline::{Blocking, Bounded, Channel, Crossbeam, EVENTS, Event, Pipelines, Sink, Stage, Std};
use harness::{Clock, Placement};
use serde::Serialize;

fn pipeline_thread(Parameters { pipelines, channel }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    match channel {
        Channel::Crossbeam => over::<Crossbeam>(pipelines, placement, clock),
        Channel::Std => over::<Std>(pipelines, placement, clock),
        Channel::Blocking => over::<Blocking>(pipelines, placement, clock),
    }
}

fn over<B: Bounded>(pipelines: Pipelines, placement: Placement, clock: Clock) -> Result<u64> {
    let (says_done, done) = mpsc::channel();
    let sink = Arc::new(Sink::new(move |done| _ = says_done.send(done)));
    let mut threads = Vec::new();
    let starts = pipelines.lay(B::channel, mpsc::channel, |stage| {
        let (index, sink) = (threads.len(), sink.clone());
        let work = move || {
            placement.pin_participant(index)?;
            run::<B>(stage, &sink)
        };
        threads.push(thread::Builder::new().stack_size(256 << 10).spawn(work)?);
        Ok(())
    })?;
    let share = pipelines.share();
    clock.time(EVENTS, |laps| {
        for () in laps {
            starts.iter().try_for_each(|start| start.send(share))?;
            done.recv()?.map_err(Error::msg)?;
        }
        Ok(())
    })?;
    drop(starts);
    threads.into_iter().try_for_each(|stage| stage.join().expect("a stage panicked"))?;
    Ok(sink.arrived())
}

fn run<B: Bounded>(stage: Stage<mpsc::Receiver<u64>, B::Receiver<Event>, B::Sender<Event>>, sink: &Sink) -> Result<()> {
    match stage {
        Stage::Onramp(mut onramp, starts, to) => {
            while let Ok(events) = starts.recv() {
                for _ in 0..events {
                    B::send(&to, onramp.decode()?).ok().context("the pipeline has ended")?;
                }
            }
        }
        Stage::Pipeline(from, to) => {
            while let Ok(mut event) = B::receive(&from) {
                event.transform();
                B::send(&to, event).ok().context("the offramp has ended")?;
            }
        }
        Stage::Offramp(from, mut checker) => {
            while let Ok(event) = B::receive(&from) {
                sink.take(event, &mut checker)?;
            }
        }
    }
    Ok(())
}

#[derive(Args, Serialize)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    pipelines: Pipelines,
    /// Which channel
    #[arg(long, value_enum, default_value_t)]
    channel: Channel,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), pipeline_thread)
}
