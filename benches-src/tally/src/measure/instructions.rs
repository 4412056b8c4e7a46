//! Instructions in user space, as valgrind's callgrind counts them: all, those that are atomic, and
//! entries into the allocator.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::book::count::Count;
use crate::book::count::KINDS;

/// What enters the C library's allocator to get memory.
const ALLOCATING: [&str; 5] = ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"];

/// What callgrind is told, so that it says of every single instruction how often it ran.
pub fn arguments(profile: &Path) -> Vec<OsString> {
    let mut file = OsString::from("--callgrind-out-file=");
    file.push(profile);
    let flags = [
        "--tool=callgrind",
        "--quiet",
        "--dump-instr=yes",
        "--dump-line=no",
        "--compress-strings=no",
        "--compress-pos=no",
    ];
    flags.into_iter().map(OsString::from).chain([file]).collect()
}

/// Reads a profile. Which instructions are atomic, the disassembled program says; what it runs of
/// shared libraries counts among all, and not among the atomic ones.
pub fn parse(profile: &str, program: &Path) -> Result<BTreeMap<String, u64>> {
    let output = Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(program).output();
    let output = output.context("objdump cannot be started; on Debian: apt-get install binutils")?;
    ensure!(output.status.success(), "objdump cannot read {}", program.display());
    let atomic = atomic_addresses(&String::from_utf8_lossy(&output.stdout));
    let program = program.canonicalize()?;
    count(profile, &program.to_string_lossy(), &atomic)
}

fn count(profile: &str, program: &str, atomic: &HashSet<u64>) -> Result<BTreeMap<String, u64>> {
    let (mut all, mut of_atomic, mut entering) = (0, 0, 0);
    let (mut in_program, mut callee, mut is_inclusive) = (false, "", false);
    for line in profile.lines() {
        if let Some(object) = line.strip_prefix("ob=") {
            in_program = object == program;
        } else if let Some(name) = line.strip_prefix("cfn=") {
            callee = name;
        } else if let Some(call) = line.strip_prefix("calls=") {
            let times: u64 = number(call.split_whitespace().next(), line)?;
            entering += if ALLOCATING.contains(&callee) { times } else { 0 };
            // The next line has what the callee cost, which stands at the callee as well.
            is_inclusive = true;
        } else if let Some(position) = line.strip_prefix("0x") {
            let mut words = position.split_whitespace();
            let address = words.next().and_then(|word| u64::from_str_radix(word, 16).ok());
            let times: u64 = number(words.next(), line)?;
            if !std::mem::take(&mut is_inclusive) {
                all += times;
                let is_atomic = in_program && address.is_some_and(|address| atomic.contains(&address));
                of_atomic += if is_atomic { times } else { 0 };
            }
        }
    }
    ensure!(all > 0, "callgrind wrote no instructions; which version is it?");
    let count = Count::Instructions;
    let kind = |name: &str| format!("{}{name}", count.of_a_kind());
    let [of_kind_atomic, of_kind_entering] = KINDS.map(kind);
    Ok([(count.all().to_owned(), all), (of_kind_atomic, of_atomic), (of_kind_entering, entering)].into())
}

fn number(word: Option<&str>, line: &str) -> Result<u64> {
    let number = word.and_then(|word| word.parse().ok());
    number.with_context(|| format!("callgrind wrote {line:?} where a count was expected; which version is it?"))
}

/// Where atomic instructions stand: what locks the bus or a cache line, or is a load and a store in
/// one.
fn atomic_addresses(listing: &str) -> HashSet<u64> {
    let address = |line: &str| {
        let (address, instruction) = line.split_once(":\t")?;
        is_atomic(instruction).then(|| u64::from_str_radix(address.trim(), 16).ok())?
    };
    listing.lines().filter_map(address).collect()
}

fn is_atomic(instruction: &str) -> bool {
    const OF_ARM: [&str; 8] = ["cas", "ldadd", "ldclr", "ldeor", "ldset", "swp", "stxr", "stlxr"];
    let (name, operands) = instruction.split_once(char::is_whitespace).unwrap_or((instruction, ""));
    // An exchange with memory is atomic without saying so; one between registers is not.
    name == "lock"
        || name.starts_with("xchg") && operands.contains('(')
        || OF_ARM.iter().any(|arm| name.starts_with(arm))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\
0000000000001000 <work>:
    1000:\tpush   %rbx
    1001:\tlock cmpxchg %ecx,(%rdi)
    1005:\txchg   %ax,%ax
    1007:\txchg   %eax,(%rdi)
    1009:\tlock xadd %rax,0x8(%rdi)
    100f:\tret
";

    const PROFILE: &str = "\
version: 1
positions: instr
events: Ir

ob=/programs/call
fn=work
0x1000 10
0x1001 10
cob=/lib/libc.so.6
cfn=malloc
calls=7 0x5000
0x1002 700
0x1007 3
0x100f 10

ob=/lib/libc.so.6
fn=malloc
0x1001 7
0x5000 7
totals: 47
";

    #[test]
    fn atomic_instructions_are_told_from_exchanges_between_registers() {
        let mut found: Vec<u64> = atomic_addresses(LISTING).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, [0x1001, 0x1007, 0x1009]);
        assert!(is_atomic("ldadd\tw1, w0, [x2]") && !is_atomic("ldr\tw1, [x2]"));
    }

    #[test]
    fn a_profile_is_read_without_what_callees_cost() {
        let counts = count(PROFILE, "/programs/call", &atomic_addresses(LISTING)).unwrap();
        let known = [("instructions", 47), ("instructions_atomic", 13), ("instructions_entering_malloc", 7)];
        assert!(counts.iter().map(|(name, number)| (name.as_str(), *number)).eq(known), "{counts:?}");
    }

    #[test]
    fn what_is_no_profile_is_said() {
        assert!(count("", "p", &HashSet::new()).unwrap_err().to_string().contains("no instructions"));
        assert!(count("0x10 many\n", "p", &HashSet::new()).unwrap_err().to_string().contains("0x10 many"));
    }
}
