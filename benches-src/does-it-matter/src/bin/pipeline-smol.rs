//! One operation: one event through an onramp, a pipeline and an offramp, each a smol task, over smol's bounded channels.

use std::process::ExitCode;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use anyhow::{Context, Error, Result};
use does_it_matter::pipeline::{Checker, Done, EVENTS, Event, Onramp, Pipelines, Sink};
use harness::{Laps, Placement, Repeat};
use smol::channel::{self, Receiver, Sender};
use smol::{Executor, Task};

struct PipelineSmol {
    /// A thread for each CPU that this process may use, and what ends them.
    workers: Vec<JoinHandle<()>>,
    running: Sender<()>,
    share: u64,
    /// Tells each onramp how many events to hand out.
    starts: Vec<Sender<u64>>,
    done: Receiver<Done>,
    sink: Arc<Sink>,
    stages: Vec<Task<Result<()>>>,
}

impl Repeat for PipelineSmol {
    type Parameters = Pipelines;

    fn set_up(pipelines: &Pipelines, placement: Placement) -> Result<Self> {
        let executor = Arc::new(Executor::new());
        let (says_done, done) = channel::unbounded();
        let sink = Arc::new(Sink::new(move |done| _ = says_done.try_send(done)));
        let (capacity, count) = (pipelines.capacity as usize, pipelines.pipelines);
        let (mut starts, mut stages, mut offramps) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..pipelines.offramps() {
            let (to_offramp, from_pipelines) = channel::bounded(capacity);
            stages.push(executor.spawn(offramp(from_pipelines, sink.clone(), Checker::new(count))));
            offramps.push(to_offramp);
        }
        for index in 0..count as usize {
            let ((start, told), (to_pipeline, from_onramp)) = (channel::unbounded(), channel::bounded(capacity));
            stages.push(executor.spawn(feed(Onramp::new(index, pipelines.input()), told, to_pipeline)));
            stages.push(executor.spawn(pipeline(from_onramp, offramps[index % offramps.len()].clone())));
            starts.push(start);
        }
        let (running, ended) = channel::bounded(1);
        let worker = |index| {
            let (executor, ended) = (executor.clone(), ended.clone());
            thread::spawn(move || {
                placement.pin_participant(index).expect("the placement was applied to the whole process before");
                // The channel is never sent over: it closes.
                let _ = smol::block_on(executor.run(ended.recv()));
            })
        };
        let workers = (0..thread::available_parallelism()?.get()).map(worker).collect();
        Ok(Self { workers, running, share: pipelines.share(), starts, done, sink, stages })
    }

    fn operations_per_lap(&self) -> u64 {
        EVENTS
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            self.starts.iter().try_for_each(|start| start.try_send(self.share))?;
            self.done.recv_blocking()?.map_err(Error::msg)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        drop(self.starts);
        let stages = self.stages;
        smol::block_on(async {
            for stage in stages {
                stage.await?;
            }
            anyhow::Ok(())
        })?;
        drop(self.running);
        self.workers.into_iter().for_each(|worker| worker.join().expect("a worker panicked"));
        Ok(self.sink.arrived())
    }
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
    harness::repeat::<PipelineSmol>(harness::name!())
}
