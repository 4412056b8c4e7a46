//! Pipelines as tremor has them: an onramp decodes events and hands them to its pipeline, which changes them and hands them to an offramp,
//! which encodes them. What is done at each stage is here; how a stage waits is each program's own.

mod channels;
mod sink;

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use serde::Serialize;

pub use channels::{Blocking, Bounded, Channel, Closed, Crossbeam, QueueReceiver, QueueSender, Std};
pub use sink::{Checker, Done, Sink};

use crate::order::Order;

/// How many events a lap is, all pipelines together.
pub const EVENTS: u64 = 4096;

/// What every program of pipelines takes.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Pipelines {
    /// Onramps, each with a pipeline of its own; a power of two
    #[arg(long, default_value_t = 8, value_parser = power_of_two)]
    pub pipelines: u64,
    /// How many offramps there are
    #[arg(long, value_enum, default_value_t)]
    pub offramps: Offramps,
    /// Events that a channel between two stages holds
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub capacity: u64,
    /// The least size of an event as JSON
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(0..=100_000))]
    pub bytes: u64,
}

/// How many offramps there are.
#[derive(ValueEnum, Serialize, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Offramps {
    /// One for all pipelines, as in tremor's benchmark
    #[default]
    One,
    /// One for each
    Each,
}

fn power_of_two(text: &str) -> Result<u64, String> {
    let number: u64 = text.parse().map_err(|_| format!("{text:?} is no number"))?;
    match number.is_power_of_two() && number <= 256 {
        true => Ok(number),
        false => Err("a power of two up to 256, so that a lap's events can be shared out evenly".to_owned()),
    }
}

impl Pipelines {
    /// The events of each onramp in a lap.
    pub fn share(&self) -> u64 {
        EVENTS / self.pipelines
    }

    /// How many offramps that makes.
    pub fn offramps(&self) -> u64 {
        match self.offramps {
            Offramps::One => 1,
            Offramps::Each => self.pipelines,
        }
    }

    /// What an onramp is handed, again and again.
    pub fn input(&self) -> Arc<[u8]> {
        Order::of_bytes(1, self.bytes as usize).to_json().into()
    }
}

/// A stage that is to start, and the ends that it is given of its channels.
pub enum Stage<Told, From, To> {
    /// The first: decodes as many events as it is told to, again and again.
    Onramp(Onramp, Told, To),
    /// The second.
    Pipeline(From, To),
    /// The third.
    Offramp(From, Checker),
}

impl Pipelines {
    /// Lays channels and has the stages started between them, offramps first. `bounded` makes a channel for events that holds so many, and
    /// `telling` one by which an onramp is told how many to hand out; what tells each is returned. An error where a stage cannot be started.
    pub fn lay<Tell, Told, From, To: Clone>(
        &self,
        bounded: impl Fn(usize) -> (To, From),
        telling: impl Fn() -> (Tell, Told),
        mut start: impl FnMut(Stage<Told, From, To>) -> Result<()>,
    ) -> Result<Vec<Tell>> {
        let (mut starts, mut offramps, capacity) = (Vec::new(), Vec::new(), self.capacity as usize);
        for _ in 0..self.offramps() {
            let (to_offramp, from_pipelines) = bounded(capacity);
            start(Stage::Offramp(from_pipelines, Checker::new(self.pipelines)))?;
            offramps.push(to_offramp);
        }
        for index in 0..self.pipelines as usize {
            let ((tell, told), (to_pipeline, from_onramp)) = (telling(), bounded(capacity));
            start(Stage::Onramp(Onramp::new(index, self.input()), told, to_pipeline))?;
            start(Stage::Pipeline(from_onramp, offramps[index % offramps.len()].clone()))?;
            starts.push(tell);
        }
        Ok(starts)
    }
}

/// An event on its way, and where it belongs.
pub struct Event {
    /// Its pipeline.
    pub pipeline: usize,
    /// How many were before it there.
    pub sequence: u64,
    order: Order,
}

/// The first stage: what it has decoded so far.
pub struct Onramp {
    pipeline: usize,
    input: Arc<[u8]>,
    sequence: u64,
}

impl Onramp {
    /// Before its first event.
    pub fn new(pipeline: usize, input: Arc<[u8]>) -> Self {
        Self { pipeline, input, sequence: 0 }
    }

    /// Decodes one more.
    pub fn decode(&mut self) -> Result<Event> {
        let order = Order::from_json(&self.input).context("an event is no order")?;
        let event = Event { pipeline: self.pipeline, sequence: self.sequence, order };
        self.sequence += 1;
        Ok(event)
    }
}

impl Event {
    /// The second stage: the small transformation.
    pub fn transform(&mut self) {
        self.order.add_up();
    }

    /// The third: its bytes.
    pub fn encode(self) -> Result<Vec<u8>> {
        ensure!(self.order.total_cents > 0, "an event has passed by its pipeline");
        Ok(self.order.to_json())
    }
}
