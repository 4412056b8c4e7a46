//! One operation: one finding: units are added until something says no, and what said no is named once moving it alone has moved the ceiling.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use harness::{Placement, Report};
use limits::{Detective, Finding, Order, guard, only_when_asked};
use serde::Serialize;

fn detect_limit(parameters: Parameters, _: Placement, report: Report) -> Result<()> {
    only_when_asked(parameters.push)?;
    let own = std::env::current_exe()?;
    let climber = own.with_file_name(match parameters.unit {
        Unit::Thread => "reach-thread",
        Unit::Pthread => "reach-pthread",
        Unit::Brigade => "reach-thread-brigade",
    });
    let units = serde_json::json!({ "stack_bytes": 65536, "second_stack": "none" });
    let mut order = Order::new(parameters.most, &units)?;
    order.nofile = (parameters.nofile > 0).then_some(parameters.nofile);
    order.occupied_mappings = parameters.occupied_mappings;
    let detective = Detective { climber, guardian: own, order };
    let finding = detective.investigate().context("the detective was interrupted")?;
    report.give(finding.told())
}

#[derive(Args, Serialize, Clone)]
struct Parameters {
    /// What is added
    #[arg(long, value_enum, default_value_t)]
    unit: Unit,
    /// Whether to push this machine to the limit at all
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set)]
    push: bool,
    /// How many are added at most
    #[arg(long, default_value_t = 1_000_000)]
    most: u64,
    /// A soft limit of descriptors for the pushed process alone, to see the detective at work; 0 for the hard one
    #[arg(long, default_value_t = 0)]
    nofile: u64,
    /// Mappings that the pushed process makes before it begins, likewise
    #[arg(long, default_value_t = 0)]
    occupied_mappings: u64,
}

#[derive(ValueEnum, Serialize, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
enum Unit {
    /// A thread of the standard library
    #[default]
    Thread,
    /// A thread of the C library
    Pthread,
    /// A thread with a socket pair
    Brigade,
}

fn main() -> ExitCode {
    guard().unwrap_or_else(|| harness::once(harness::name!(), &Finding::MEASURES, detect_limit))
}
