//! One operation: one event through an onramp, a pipeline and an offramp, each a tokio task, over tokio's bounded channels.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Error, Result};
use clap::Args;
use does_it_matter::pipeline::{Checker, Done, EVENTS, Event, Onramp, Pipelines, Sink};
use harness::{Laps, Placement, Repeat};
use runtime::Flavor;
use serde::Serialize;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{self, Receiver, Sender, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;

#[derive(Args, Serialize)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    pipelines: Pipelines,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

struct PipelineTokio {
    runtime: Runtime,
    share: u64,
    /// Tells each onramp how many events to hand out.
    starts: Vec<UnboundedSender<u64>>,
    done: UnboundedReceiver<Done>,
    sink: Arc<Sink>,
    stages: Vec<JoinHandle<Result<()>>>,
}

impl Repeat for PipelineTokio {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters, placement: Placement) -> Result<Self> {
        let Parameters { pipelines, runtime } = parameters;
        let runtime = runtime.start(placement)?;
        let (says_done, done) = mpsc::unbounded_channel();
        let sink = Arc::new(Sink::new(move |done| _ = says_done.send(done)));
        let (capacity, count) = (pipelines.capacity as usize, pipelines.pipelines);
        let (mut starts, mut stages, mut offramps) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..pipelines.offramps() {
            let (to_offramp, from_pipelines) = mpsc::channel(capacity);
            stages.push(runtime.spawn(offramp(from_pipelines, sink.clone(), Checker::new(count))));
            offramps.push(to_offramp);
        }
        for index in 0..count as usize {
            let ((start, told), (to_pipeline, from_onramp)) = (mpsc::unbounded_channel(), mpsc::channel(capacity));
            stages.push(runtime.spawn(feed(Onramp::new(index, pipelines.input()), told, to_pipeline)));
            stages.push(runtime.spawn(pipeline(from_onramp, offramps[index % offramps.len()].clone())));
            starts.push(start);
        }
        Ok(Self { runtime, share: pipelines.share(), starts, done, sink, stages })
    }

    fn operations_per_lap(&self) -> u64 {
        EVENTS
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let Self { runtime, share, starts, done, .. } = self;
        runtime.block_on(async {
            for () in laps {
                starts.iter().try_for_each(|start| start.send(*share))?;
                done.recv().await.context("all stages have ended")?.map_err(Error::msg)?;
            }
            Ok(())
        })
    }

    fn finish(self) -> Result<u64> {
        drop(self.starts);
        let stages = self.stages;
        self.runtime.block_on(async {
            for stage in stages {
                stage.await??;
            }
            anyhow::Ok(())
        })?;
        Ok(self.sink.arrived())
    }
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

fn main() -> ExitCode {
    harness::repeat::<PipelineTokio>(harness::name!())
}
