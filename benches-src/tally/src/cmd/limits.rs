//! `tally limits`: the limits of a machine, the ceilings that each implies, which binds first, and how to raise it.

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;

use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::plan::Plan;
use crate::book::unit::Unit;
use crate::compute::quantity::Measured;
use crate::print::escape::html;
use crate::print::format;
use crate::print::render::{self, Form};
use crate::print::view::View;
use crate::project::Machine;

/// The limits of a machine, what each implies, and how to raise it
#[derive(Args)]
pub struct Limits {}

/// The experiment whose record says what the limits are. That record has for each limit what it implies, so
/// that nothing is computed here.
const EXPERIMENT: &str = "ceilings";

/// Limits are read when they are measured and never when they are printed.
const AGAIN: &str = "cargo tally measure ceilings --again";

/// The units that limits are ceilings of: what their measures are called, and what a reader calls them.
const UNITS: [(&str, &str); 5] = [
    ("thread", "threads"),
    ("pthread", "raw pthreads"),
    ("thread_brigade", "brigade of threads"),
    ("task", "tasks"),
    ("task_brigade", "brigade of tasks"),
];

/// What a reader should know about a limit beside its value.
struct Known {
    /// What it is, in a few words.
    name: &'static str,
    /// The measure that is its value.
    value: &'static str,
    /// What it is called in measures of ceilings; nothing where it bounds another limit only.
    by: &'static str,
    /// Where it is set.
    source: &'static str,
    /// The command that raises it: far enough for 500,000 threads of the standard library.
    command: &'static str,
    /// What that risks.
    risk: &'static str,
}

const LIMITS: [Known; 12] = [
    Known {
        name: "mappings of a process",
        value: "max_map_count",
        by: "max_map_count",
        source: "/proc/sys/vm/max_map_count",
        command: "sysctl -w vm.max_map_count=2100000",
        risk: "A process that leaks mappings takes more of the kernel's memory before it is stopped; core dumps of more than 65,535 need tools that know the extended format.",
    },
    Known {
        name: "process and thread ids",
        value: "pid_max",
        by: "pid_max",
        source: "/proc/sys/kernel/pid_max",
        command: "sysctl -w kernel.pid_max=4194304",
        risk: "Old programs that keep an id in 16 bits; wider columns. A runaway program goes further before it stops.",
    },
    Known {
        name: "threads of the system",
        value: "threads_max",
        by: "threads_max",
        source: "/proc/sys/kernel/threads-max",
        command: "sysctl -w kernel.threads-max=1000000",
        risk: "The kernel chose its value so that the threads' kernel stacks take at most an eighth of the memory. Beyond, threads alone can exhaust it.",
    },
    Known {
        name: "threads of a user",
        value: "nproc_soft",
        by: "nproc",
        source: "RLIMIT_NPROC; /etc/security/limits.conf",
        command: "prlimit --pid $$ --nproc=1000000",
        risk: "A fork bomb of this user takes the machine with it. Root of the whole system is above this limit.",
    },
    Known {
        name: "threads of a control group",
        value: "pids_max",
        by: "pids_max",
        source: "pids.max of a group above this process; systemd: TasksMax",
        command: "echo max > GROUP/pids.max",
        risk: "It is what keeps one service or one login from taking every id. systemd may put it back.",
    },
    Known {
        name: "descriptors of a process",
        value: "nofile_hard",
        by: "nofile",
        source: "RLIMIT_NOFILE; /etc/security/limits.conf; systemd: LimitNOFILE",
        command: "prlimit --pid $$ --nofile=1048576",
        risk: "Programs that use select break beyond 1,024, and some close every possible descriptor when they start. Needs the capability to raise hard limits, which containers often lack.",
    },
    Known {
        name: "what that may be raised to",
        value: "nr_open",
        by: "",
        source: "/proc/sys/fs/nr_open",
        command: "sysctl -w fs.nr_open=4194304",
        risk: "A table of descriptors is one stretch of the kernel's memory.",
    },
    Known {
        name: "open files of the system",
        value: "file_max",
        by: "file_max",
        source: "/proc/sys/fs/file-max",
        command: "sysctl -w fs.file-max=10000000",
        risk: "Memory of the kernel for each; root is above this limit.",
    },
    Known {
        name: "descriptors in epoll, of a user",
        value: "epoll_watches",
        by: "epoll_watches",
        source: "/proc/sys/fs/epoll/max_user_watches",
        command: "sysctl -w fs.epoll.max_user_watches=20000000",
        risk: "Memory of the kernel that cannot be swapped out, some 190 bytes for each.",
    },
    Known {
        name: "memory, of which a quarter is kept free",
        value: "memory_total",
        by: "memory",
        source: "/proc/meminfo; memory.max of a group above this process",
        command: "",
        risk: "What a unit takes is a rough guess here; the chapter on memory measures it.",
    },
    Known {
        name: "promises of address space",
        value: "overcommit",
        by: "overcommit",
        source: "/proc/sys/vm/overcommit_memory",
        command: "sysctl -w vm.overcommit_memory=0",
        risk: "0 promises by guess, 1 always, 2 no more than there is. What was promised may turn out not to be there, and the kernel then kills a process.",
    },
    Known {
        name: "the default stack of C programs",
        value: "stack_soft",
        by: "",
        source: "RLIMIT_STACK",
        command: "",
        risk: "Address space only: what a thread never touches takes no memory. Rust's threads have 2 MiB unless they ask.",
    },
];

/// A limit with everything that its row says.
struct Row {
    known: &'static Known,
    value: Measured,
    /// One per unit; nothing where the limit bounds only another limit.
    ceilings: Vec<Option<Measured>>,
    /// Whether it is the lowest, unit by unit.
    first: Vec<bool>,
    command: String,
}

/// Where the record of the limits is planned.
pub fn experiment(view: &View) -> Result<(&Plan, &Experiment)> {
    view.plans.experiment(EXPERIMENT)
}

impl Limits {
    /// Prints them.
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let (plan, experiment) = experiment(view)?;
        let kept = view.kept(plan, experiment)?;
        if let Err(missing) = kept.as_ref() {
            return Ok(render::missing(missing, form));
        }
        let rows = rows(view, plan, experiment)?;
        let stale = render::stale(view, plan, experiment)?.map_or(String::new(), |note| render::missing(&note, form));
        let context = render::context(view, plan, experiment)?;
        Ok(match form {
            Form::Page => page(&rows, &context, &stale, again(view)),
            Form::Text => {
                let rows: String = rows.iter().map(text).collect();
                format!("{stale}{rows}\nAs they were measured: {context}.\n{}: {AGAIN}\n", again(view))
            }
            Form::Json => serde_json::Value::from(rows.iter().map(object).collect::<Vec<_>>()).to_string() + "\n",
        })
    }
}

/// What the command does that measures them.
fn again(view: &View) -> &'static str {
    match view.machine {
        Machine::Local => "To measure them again",
        Machine::Exported(_) => "To measure those of your own machine",
    }
}

fn rows(view: &View, plan: &Plan, experiment: &Experiment) -> Result<Vec<Row>> {
    let [program] = experiment.programs()[..] else { bail!("{EXPERIMENT} is what one program reads") };
    let ask = |measure: &str| {
        let expression = Expression::parse(&format!("{program}[free].{measure}"))?;
        view.evaluate(plan, experiment, &expression)
    };
    let lowest = UNITS.map(|(unit, _)| ask(&format!("{unit}_ceiling")).map(|ceiling| number(&ceiling)));
    let lowest: Vec<Option<f64>> = lowest.into_iter().collect::<Result<_>>()?;
    let group = group(number(&ask("pids_version")?), number(&ask("pids_level")?));
    let mut rows = Vec::new();
    for known in &LIMITS {
        let mut ceilings = Vec::new();
        for (unit, _) in UNITS {
            let concerns = !known.by.is_empty();
            ceilings.push(if concerns { Some(ask(&format!("{unit}_by_{}", known.by))?) } else { None });
        }
        let is_lowest = |(ceiling, lowest): (&Option<Measured>, &Option<f64>)| {
            let units = ceiling.as_ref().and_then(number);
            units.is_some() && units == *lowest
        };
        let first = ceilings.iter().zip(&lowest).map(is_lowest).collect();
        let command = known.command.replace("GROUP", &group);
        rows.push(Row { known, value: ask(known.value)?, ceilings, first, command });
    }
    Ok(rows)
}

fn number(measured: &Measured) -> Option<f64> {
    measured.as_ref().ok().map(|quantity| quantity.estimate.median)
}

/// A shell's words for the group whose limit is the tightest, without its name.
fn group(version: Option<f64>, level: Option<f64>) -> String {
    let above = "/..".repeat(level.unwrap_or(0.0) as usize);
    match version {
        Some(1.0) => format!("/sys/fs/cgroup/pids$(sed -n 's/^[0-9]*:pids://p' /proc/self/cgroup){above}"),
        _ => format!("/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup){above}"),
    }
}

/// A setting is exact: it is not rounded.
fn exact(measured: &Measured) -> String {
    match measured {
        Ok(quantity) if quantity.unit == Unit::Bytes => format::quantity(quantity).value,
        // The median of an even number of rounds may end in half a unit, which nobody can hold.
        Ok(quantity) => format::grouped(&quantity.estimate.median.floor().to_string()),
        Err(missing) => missing.reason.strip_prefix("because ").unwrap_or(&missing.reason).to_owned(),
    }
}

fn page(rows: &[Row], context: &str, stale: &str, again: &str) -> String {
    let heads: String = UNITS.iter().map(|(_, name)| format!("<th scope=\"col\">{}</th>", html(name))).collect();
    let wide = render::wide("Limits");
    let mut out = format!(
        "<div class=\"figure table\" id=\"the-limits\">\n{stale}{wide}<table>\n<caption><span>Each limit and the \
         number of units at which it would stop; the lowest of a column is marked. As they were measured: {}.</span></caption>\n<thead>\n<tr>\
         <th scope=\"col\">limit</th><th scope=\"col\">value</th>{heads}</tr>\n</thead>\n<tbody>\n",
        html(context)
    );
    for row in rows {
        let cells: String = row.ceilings.iter().zip(&row.first).map(|(ceiling, first)| cell(ceiling, *first)).collect();
        out += &format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td>{cells}</tr>\n",
            html(row.known.name),
            html(&exact(&row.value))
        );
    }
    out += "</tbody>\n</table>\n</div>\n";
    let raise = rows.iter().map(|row| {
        let command = match row.command.is_empty() {
            true => String::new(),
            false => format!(" <code class=\"command for-root\">{}</code>", html(&row.command)),
        };
        format!(
            "<li><strong>{}</strong> ({}):{command} {}</li>\n",
            html(row.known.name),
            html(row.known.source),
            html(row.known.risk)
        )
    });
    out += &format!(
        "<details>\n<summary>Where each is set, how to raise it, and what that risks</summary>\n<p>As root. The values are enough for \
         500,000 threads; what a command sets lasts until the next start of the machine, or of the shell.</p>\n<ul>\n{}</ul>\n</details>\n",
        raise.collect::<String>()
    );
    let commands = ["cargo tally limits", AGAIN].map(|command| format!("<code class=\"command\">{command}</code>"));
    out + &format!("<p class=\"small\">{} · {again}: {}</p>\n</div>\n", commands[0], commands[1])
}

fn cell(ceiling: &Option<Measured>, first: bool) -> String {
    match ceiling {
        None => "<td></td>".to_owned(),
        Some(Err(missing)) if missing.reason.ends_with("unlimited") => "<td>–</td>".to_owned(),
        Some(Err(missing)) => format!("<td>{}</td>", render::boxed_inline(missing)),
        Some(ceiling) if first => format!("<td><strong>{} ← first</strong></td>", html(&exact(ceiling))),
        Some(ceiling) => format!("<td>{}</td>", html(&exact(ceiling))),
    }
}

fn text(row: &Row) -> String {
    let mut out = format!("{:40} {}\n    {}\n", row.known.name, exact(&row.value), row.known.source);
    for ((ceiling, first), (_, unit)) in row.ceilings.iter().zip(&row.first).zip(UNITS) {
        if let Some(ceiling @ Ok(_)) = ceiling {
            out += &format!("    {unit}: {}{}\n", exact(ceiling), if *first { "  <- binds first" } else { "" });
        }
    }
    if !row.command.is_empty() {
        out += &format!("    to raise it: {}\n", row.command);
    }
    out + &format!("    {}\n", row.known.risk)
}

fn object(row: &Row) -> serde_json::Value {
    let of = |measured: &Measured| match measured {
        Ok(quantity) => json!(quantity.estimate.median),
        Err(_) => json!({ "missing": exact(measured) }),
    };
    let ceilings: serde_json::Map<String, serde_json::Value> = (row.ceilings.iter().zip(UNITS))
        .filter_map(|(ceiling, (unit, _))| Some((unit.to_owned(), of(ceiling.as_ref()?))))
        .collect();
    let first: Vec<&str> = row.first.iter().zip(UNITS).filter_map(|(first, (unit, _))| first.then_some(unit)).collect();
    json!({
        "limit": row.known.name, "measure": row.known.value, "value": of(&row.value), "source": row.known.source,
        "ceilings": ceilings, "binds_first": first, "command": row.command, "risk": row.known.risk,
    })
}
