//! The flags that every program has beside its own parameters.

use clap::{ArgMatches, Args, Command, FromArgMatches};

use crate::placement::Placement;

/// The words of this process's command line, as a program's parameters and the harness's flags.
/// Usage and errors are printed here, and end the process. What is generic over the parameters is
/// compiled once for every program, so this is not.
pub fn read(with_parameters: fn(Command) -> Command) -> (ArgMatches, HarnessFlags) {
    let mut matches = command(with_parameters).get_matches();
    let flags = HarnessFlags::from_arg_matches_mut(&mut matches).unwrap_or_else(|error| exit(error));
    (matches, flags)
}

/// The parameters that those words say.
pub fn parameters<P: Args>(matches: &ArgMatches) -> P {
    P::from_arg_matches(matches).unwrap_or_else(|error| exit(error))
}

fn exit(error: clap::Error) -> ! {
    error.exit()
}

/// A program's parameters, then what the harness understands.
pub fn command(with_parameters: fn(Command) -> Command) -> Command {
    let command = Command::new(env!("CARGO_PKG_NAME")).version(env!("CARGO_PKG_VERSION"));
    // Else what the flags are would stand where it is said what a program does.
    HarnessFlags::augment_args(with_parameters(command)).about(None::<&str>)
}

/// Flags of the harness.
#[derive(Args)]
#[command(next_help_heading = "Harness")]
pub struct HarnessFlags {
    /// Where the threads may run
    #[arg(long, value_enum, default_value_t)]
    pub placement: Placement,
    /// Print the observation as one line of JSON
    #[arg(long)]
    pub json: bool,
    /// Print what this program has, its parameters and measures, as one line of JSON, and do nothing
    #[arg(long)]
    pub describe: bool,
    /// Print nothing
    #[arg(long, conflicts_with = "json")]
    pub quiet: bool,
    /// Do the work once, check it, and say so
    #[arg(long, conflicts_with = "iters")]
    pub once: bool,
    /// Do exactly this many laps as one sample, without Criterion
    #[arg(long, value_name = "LAPS", group = "exactly", value_parser = clap::value_parser!(u64).range(1..))]
    pub iters: Option<u64>,
    /// Time this many laps one by one, for a distribution of single laps
    #[arg(long, value_name = "LAPS", group = "exactly", conflicts_with = "once", value_parser = clap::value_parser!(u64).range(1..))]
    pub histogram: Option<u64>,
    /// Laps before those of --iters or --histogram, outside the sample
    #[arg(long, value_name = "LAPS", default_value_t = 0, requires = "exactly")]
    pub warmups: u64,
    /// Samples to take
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(10..))]
    pub samples: u64,
    /// Milliseconds of warm-up before the samples
    #[arg(long, value_name = "MS", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    pub warm_up_ms: u64,
    /// Milliseconds that all samples together should take
    #[arg(long, value_name = "MS", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    pub measurement_ms: u64,
    /// A shell command to run before the program takes down what it set up, with {pid} replaced by its process id
    #[arg(long, value_name = "COMMAND")]
    pub command: Option<String>,
}

impl HarnessFlags {
    /// Runs `--command`. Its output is the person's who asked for it, so it goes to stderr and leaves `--json` alone.
    pub fn run_command(&self) -> anyhow::Result<()> {
        let Some(command) = &self.command else {
            return Ok(());
        };
        let command = command.replace("{pid}", &std::process::id().to_string());
        let status = std::process::Command::new("sh").args(["-c", &command]).stdout(std::io::stderr()).status()?;
        anyhow::ensure!(status.success(), "--command ended with {status}: {command}");
        Ok(())
    }
}
