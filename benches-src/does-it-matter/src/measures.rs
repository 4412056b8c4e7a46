//! What the programs of this chapter may report: each measure is described once, whoever reports
//! it.

use harness::{Described, described};

const RATE: Described = described("rate", "1", "requests answered in a second at saturation");
const SATURATION: Described =
    described("saturation_ns", "ns", "the time of one request at saturation: a second divided by the rate");
const CPU: Described = described("cpu_ns", "ns", "the CPU time that one request took the server at saturation");
const COMMON_CPU: Described =
    described("common_cpu_ns", "ns", "the CPU time that one request took the server at --common-rate");
const COMMON_MEDIAN: Described =
    described("common_p50_ns", "ns", "the median latency at --common-rate, from when a request was due");
const COMMON_99TH: Described =
    described("common_p99_ns", "ns", "the 99th percentile of latency at --common-rate, from when a request was due");
const SERVED: Described =
    described("answered", "1", "requests answered where whoever connects was served for --serve-seconds");

/// What the clients of any server can tell.
pub const SEEN_BY_CLIENTS: [Described; 14] = [
    described("connections", "1", "connections that were open, idle ones among them"),
    RATE,
    SATURATION,
    described("load_cpu_share", "1", "the CPU time that the load generator took at saturation, as a part of the time"),
    described(
        "load_late_p99_ns",
        "ns",
        "how late the load generator sent a request at 80 % of the rate, 99th percentile",
    ),
    described("half_p50_ns", "ns", "the median latency at half of the rate, from when a request was due"),
    described("half_p99_ns", "ns", "the 99th percentile of latency at half of the rate, from when a request was due"),
    described(
        "half_p999_ns",
        "ns",
        "the 99.9th percentile of latency at half of the rate, from when a request was due",
    ),
    described("most_p50_ns", "ns", "the median latency at 80 % of the rate, from when a request was due"),
    described("most_p99_ns", "ns", "the 99th percentile of latency at 80 % of the rate, from when a request was due"),
    described(
        "most_p999_ns",
        "ns",
        "the 99.9th percentile of latency at 80 % of the rate, from when a request was due",
    ),
    COMMON_MEDIAN,
    COMMON_99TH,
    described("common_p999_ns", "ns", "the 99.9th percentile of latency at --common-rate, from when a request was due"),
];

/// What is known beside that of a server in this process.
pub const SEEN_INSIDE: [Described; 4] = [
    described(
        "user_memory_bytes",
        "B",
        "the growth of the server's process by all connections, page tables included, for each of them",
    ),
    CPU,
    COMMON_CPU,
    described("switches", "1", "switches of the server's threads for each request at 80 % of the rate"),
];

/// What is known of a server that only serves.
pub const SEEN_OF_SERVING: [Described; 1] = [SERVED];

/// What is known of the service that servers ask, and of who waits for it.
pub const SEEN_OF_ASKING: [Described; 5] = [
    SERVED,
    described("threads", "1", "threads of the server at 80 % of the rate"),
    described("asked", "1", "questions that the service answered"),
    described("upstream_cpu_share", "1", "the CPU time that the service took in its busiest tenth of a second"),
    described("upstream_late_p99_ns", "ns", "how late the service answered, 99th percentile"),
];

/// What the service itself knows of that.
pub const OF_UPSTREAM: [Described; 3] = [
    described("answered", "1", "questions answered"),
    described("cpu_share", "1", "the part of its busiest tenth of a second in which it used a CPU"),
    described("late_p99_ns", "ns", "how long after it was due an answer was written, 99th percentile"),
];

/// What is known of a server on more than one CPU.
pub const OF_SPREADING: [Described; 13] = [
    COMMON_CPU,
    described("common_switches", "1", "switches of the server's threads for each request at --common-rate"),
    COMMON_MEDIAN,
    COMMON_99TH,
    described(
        "common_late_p99_ns",
        "ns",
        "how late the load generator sent a request at --common-rate, 99th percentile",
    ),
    described("common_load_cpu_share", "1", "the CPU time of the load generator at --common-rate, a part of the time"),
    RATE,
    SATURATION,
    CPU,
    described("load_cpu_share", "1", "the CPU time of the busiest load generator at saturation, as a part of the time"),
    described("generators", "1", "load generators with a CPU of their own; 0 if one shares the server's CPUs"),
    described("threads", "1", "threads of the server at --common-rate"),
    SERVED,
];

const RATE_OF_CONNECTIONS: Described =
    described("rate", "1", "requests answered in a second, each on a connection of its own");
const MEDIAN_OF_CONNECTIONS: Described =
    described("p50_ns", "ns", "the median time from the beginning of a connection until its answer was there");
const NINETY_NINTH_OF_CONNECTIONS: Described = described("p99_ns", "ns", "the 99th percentile of that time");

/// What is known of a server whose clients connect anew for each request.
pub const OF_BRIEF: [Described; 6] = [
    RATE_OF_CONNECTIONS,
    described("cpu_ns", "ns", "the CPU time that one connection with its request took the server"),
    MEDIAN_OF_CONNECTIONS,
    NINETY_NINTH_OF_CONNECTIONS,
    described("clients_cpu_share", "1", "the CPU time that the clients took, as a part of the time"),
    described("answered", "1", "requests that were answered, by the server and by its clients' count"),
];

/// What those clients can tell.
pub const OF_CALLERS: [Described; 5] = [
    described("answered", "1", "requests answered"),
    RATE_OF_CONNECTIONS,
    MEDIAN_OF_CONNECTIONS,
    NINETY_NINTH_OF_CONNECTIONS,
    described("cpu_share", "1", "the CPU time that the clients took, as a part of the time"),
];

/// What is known of a service that is built and started.
pub const OF_BUILDING: [Described; 5] = [
    described("packages", "1", "packages from crates.io that are compiled for it, build scripts and macros among them"),
    described("build_ns", "ns", "from the start of a build from nothing, with everything downloaded, to its end"),
    described("build_cpu_ns", "ns", "the CPU time of all processes of that build"),
    described("file_bytes", "B", "the program's file, built without symbols"),
    described(
        "start_ns",
        "ns",
        "from the start of its process until the first request has been answered, on average of 15 starts",
    ),
];

/// What is known of a program by its file.
pub const OF_WEIGHING: [Described; 6] = [
    described("loaded_bytes", "B", "what would be loaded of the program's file: what strip leaves, headers aside"),
    described("code_bytes", "B", "of that, instructions"),
    described("unwinding_bytes", "B", "of that, tables by which a panic unwinds the stack"),
    described("relocation_bytes", "B", "of that, places that the loader has to correct"),
    described("data_bytes", "B", "of that, the rest: constants, tables of functions, variables with a first value"),
    described("file_bytes", "B", "the whole file as it lies there, symbols included"),
];
