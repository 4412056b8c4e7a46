//! One operation: one event through an onramp, a pipeline and an offramp, each a thread, over bounded channels.

use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Error, Result};
use clap::{Args, ValueEnum};
use does_it_matter::pipeline::{
    Blocking, Bounded, Checker, Crossbeam, Done, EVENTS, Event, Onramp, Pipelines, Sink, Std,
};
use harness::{Laps, Placement, Repeat};
use serde::Serialize;

#[derive(Args, Serialize)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    pipelines: Pipelines,
    /// Which channel
    #[arg(long, value_enum, default_value_t)]
    channel: Channel,
}

#[derive(ValueEnum, Serialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
enum Channel {
    /// crossbeam's, which spins, then yields, and then sleeps; tremor's
    #[default]
    Crossbeam,
    /// The standard library's, which sleeps at once
    Std,
    /// A queue under a lock, which does likewise
    Blocking,
}

struct PipelineThread {
    share: u64,
    /// Tells each onramp how many events to hand out.
    starts: Vec<mpsc::Sender<u64>>,
    done: mpsc::Receiver<Done>,
    sink: Arc<Sink>,
    stages: Vec<JoinHandle<Result<()>>>,
}

impl Repeat for PipelineThread {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters, placement: Placement) -> Result<Self> {
        match parameters.channel {
            Channel::Crossbeam => Self::start::<Crossbeam>(&parameters.pipelines, placement),
            Channel::Std => Self::start::<Std>(&parameters.pipelines, placement),
            Channel::Blocking => Self::start::<Blocking>(&parameters.pipelines, placement),
        }
    }

    fn operations_per_lap(&self) -> u64 {
        EVENTS
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            self.starts.iter().try_for_each(|start| start.send(self.share))?;
            self.done.recv()?.map_err(Error::msg)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        drop(self.starts);
        self.stages.into_iter().try_for_each(|stage| stage.join().expect("a stage panicked"))?;
        Ok(self.sink.arrived())
    }
}

impl PipelineThread {
    fn start<B: Bounded>(parameters: &Pipelines, placement: Placement) -> Result<Self> {
        let (says_done, done) = mpsc::channel();
        let sink = Arc::new(Sink::new(move |done| _ = says_done.send(done)));
        let mut this = Self { share: parameters.share(), starts: Vec::new(), done, sink, stages: Vec::new() };
        let (capacity, count) = (parameters.capacity as usize, parameters.pipelines);
        let mut offramps = Vec::new();
        for _ in 0..parameters.offramps() {
            let (to_offramp, from_pipelines) = B::channel(capacity);
            let sink = this.sink.clone();
            this.stage(placement, move || offramp::<B>(&from_pipelines, &sink, Checker::new(count)))?;
            offramps.push(to_offramp);
        }
        for index in 0..count as usize {
            let ((start, starts), (to_pipeline, from_onramp)) = (mpsc::channel(), B::channel(capacity));
            let onramp = Onramp::new(index, parameters.input());
            let to_offramp = offramps[index % offramps.len()].clone();
            this.stage(placement, move || feed::<B>(onramp, &starts, &to_pipeline))?;
            this.stage(placement, move || pipeline::<B>(&from_onramp, &to_offramp))?;
            this.starts.push(start);
        }
        Ok(this)
    }

    fn stage(&mut self, placement: Placement, work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
        let index = self.stages.len();
        let work = move || {
            placement.pin_participant(index)?;
            work()
        };
        self.stages.push(thread::Builder::new().stack_size(256 << 10).spawn(work)?);
        Ok(())
    }
}

fn feed<B: Bounded>(mut onramp: Onramp, starts: &mpsc::Receiver<u64>, to: &B::Sender<Event>) -> Result<()> {
    while let Ok(events) = starts.recv() {
        for _ in 0..events {
            B::send(to, onramp.decode()?).ok().context("the pipeline has ended")?;
        }
    }
    Ok(())
}

fn pipeline<B: Bounded>(from: &B::Receiver<Event>, to: &B::Sender<Event>) -> Result<()> {
    while let Ok(mut event) = B::receive(from) {
        event.transform();
        B::send(to, event).ok().context("the offramp has ended")?;
    }
    Ok(())
}

fn offramp<B: Bounded>(from: &B::Receiver<Event>, sink: &Sink, mut checker: Checker) -> Result<()> {
    while let Ok(event) = B::receive(from) {
        sink.take(event, &mut checker)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    harness::repeat::<PipelineThread>(harness::name!())
}
