//! Everything that tally and the programs ask of the kernel, as a search of their sources finds it:
//! system calls, and files of /proc and /sys.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use regex::Regex;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syscalls::Sysno;

/// What is asked for, and the files of sources that do.
pub type Found<T> = BTreeMap<T, BTreeSet<String>>;

/// What a search finds.
#[derive(Default)]
pub struct Search {
    /// By the kernel's name of the call.
    pub calls: Found<Sysno>,
    /// As patterns: what a program fills in is `*`, and what begins without a slash may lie below
    /// any folder.
    pub files: Found<String>,
    /// Functions of which this does not know what they call.
    pub unknown: BTreeSet<String>,
}

/// Functions that make another system call than their name says.
const CALLS: [(&str, &[&str]); 21] = [
    ("add", &["epoll_ctl"]),
    ("clock_gettime", &["clock_gettime"]),
    ("create", &["epoll_create1"]),
    ("delete", &["epoll_ctl"]),
    ("dup2_stdout", &["dup2", "dup3"]),
    ("eventfd", &["eventfd2"]),
    ("getrlimit", &["prlimit64"]),
    ("kill_process", &["kill"]),
    ("kill_process_group", &["kill"]),
    ("modify", &["epoll_ctl"]),
    ("nice", &["getpriority", "setpriority"]),
    ("pipe_with", &["pipe2"]),
    ("poll", &["poll", "ppoll"]),
    ("pthread_create", &["clone", "clone3"]),
    ("pthread_join", &["futex"]),
    ("set_current_timer_slack", &["prctl"]),
    ("set_parent_process_death_signal", &["prctl"]),
    ("setrlimit", &["prlimit64"]),
    ("sleep", &["clock_nanosleep", "nanosleep"]),
    ("statvfs", &["statfs"]),
    ("wait", &["epoll_wait", "epoll_pwait"]),
];

/// Functions that make none, and types.
const PURE: [&str; 16] = [
    "clock_ticks_per_second",
    "dlsym",
    "epoll",
    "linux_execfn",
    "mallinfo2",
    "mallopt",
    "page_size",
    "retry_on_intr",
    "rlimit",
    "rusage",
    "spare_capacity",
    "stdout",
    "syscall",
    "sysconf",
    "timespec",
    "timeval",
];

fn is_pure(function: &str) -> bool {
    PURE.contains(&function)
        || function.starts_with("pthread_attr")
        || function.starts_with("c_")
        || function.ends_with("_t")
}

/// Searches the sources below these folders, without tests.
pub fn search(benches: &Path) -> Search {
    let mut search = Search::default();
    let sources = walkdir::WalkDir::new(benches).sort_by_file_name().into_iter().filter_entry(|entry| {
        let name = entry.file_name().to_string_lossy();
        !["tests", "tests.rs", "examples", "target", "services"].contains(&&*name)
    });
    for source in sources.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "rs")) {
        let text = fs::read_to_string(source.path()).unwrap();
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", source.path().display()));
        let own = source.path().strip_prefix(benches).unwrap().to_string_lossy().into_owned();
        let mut asked = Asked::default();
        asked.visit_file(&parsed);
        for function in asked.functions {
            search.note_call(&function, &own);
        }
        for literal in asked.literals {
            search.note_file(&literal, &own);
        }
    }
    search
}

impl Search {
    fn note_call(&mut self, function: &str, source: &str) {
        let other = CALLS.iter().find(|(name, _)| *name == function).map(|(_, calls)| *calls);
        let own = [function];
        let calls: Vec<Sysno> = other.unwrap_or(&own).iter().filter_map(|name| name.parse().ok()).collect();
        if calls.is_empty() && !is_pure(function) {
            self.unknown.insert(format!("{function} ({source})"));
        }
        for call in calls {
            self.calls.entry(call).or_default().insert(source.to_owned());
        }
    }

    fn note_file(&mut self, literal: &str, source: &str) {
        let is_path = Regex::new(r"^(/proc|/sys/|proc/|sys/)[A-Za-z0-9_.{}*/-]*$").unwrap();
        if is_path.is_match(literal) {
            let filled_in = Regex::new(r"\{[^}]*\}").unwrap().replace_all(literal, "*").into_owned();
            self.files.entry(filled_in).or_default().insert(source.to_owned());
        }
    }
}

/// The files that such a pattern stands for, with all that lies below.
pub fn files(pattern: &str) -> Regex {
    let parts = pattern.split('*').map(regex::escape).collect::<Vec<_>>().join("[^/]*");
    // What begins without a slash lies below the root or below /proc.
    let begin = if pattern.starts_with('/') { "" } else { "(/proc)?/" };
    Regex::new(&format!("^{begin}{parts}(/|$)")).unwrap()
}

/// What a file of sources asks of the kernel.
#[derive(Default)]
struct Asked {
    functions: BTreeSet<String>,
    /// Words that are imported from there: functions, and modules of them.
    imported: BTreeSet<String>,
    literals: BTreeSet<String>,
}

impl Asked {
    /// The last word of a path into what stands on the kernel, if it is a function or the number of
    /// a call.
    fn note(&mut self, path: &[String]) {
        let (Some(first), Some(last)) = (path.first(), path.last()) else { return };
        let is_imported = path.len() > 1 && self.imported.contains(first);
        if !is_imported && !["rustix", "libc"].contains(&first.as_str()) {
            return;
        }
        // A type's functions are its own.
        if path.iter().rev().nth(1).is_some_and(|word| word.starts_with(|letter: char| letter.is_ascii_uppercase())) {
            return;
        }
        let number = last.strip_prefix("SYS_");
        let is_function = last.starts_with(|letter: char| letter.is_ascii_lowercase());
        if number.is_some() || is_function {
            self.functions.insert(number.unwrap_or(last).to_owned());
        }
    }

    /// An import: a function, or a module, whose functions are asked for by its name.
    fn note_import(&mut self, path: &[String]) {
        let module = path
            .iter()
            .rev()
            .find(|word| *word != "self")
            .filter(|_| path.first().is_some_and(|first| first == "rustix"));
        self.imported.extend(module.cloned());
        if path.last().is_none_or(|last| last != "self") {
            self.note(path);
        }
    }

    fn note_use(&mut self, tree: &syn::UseTree, mut path: Vec<String>) {
        match tree {
            syn::UseTree::Path(syn::UsePath { ident, tree, .. }) => {
                path.push(ident.to_string());
                self.note_use(tree, path);
            }
            syn::UseTree::Name(syn::UseName { ident }) => {
                path.push(ident.to_string());
                self.note_import(&path);
            }
            syn::UseTree::Rename(syn::UseRename { ident, .. }) => {
                path.push(ident.to_string());
                self.note_import(&path);
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.note_use(tree, path.clone())),
            syn::UseTree::Glob(_) => {}
        }
    }
}

impl<'ast> Visit<'ast> for Asked {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let is_test = |attribute: &syn::Attribute| {
            attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
        };
        if !module.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, own: &'ast syn::ItemUse) {
        self.note_use(&own.tree, Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.note(&path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>());
        visit::visit_path(self, path);
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.literals.insert(literal.value());
    }

    fn visit_macro(&mut self, own: &'ast syn::Macro) {
        // Most macros are handed expressions.
        let parse = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        let expressions = own.parse_body_with(parse).unwrap_or_default();
        expressions.iter().for_each(|expression| self.visit_expr(expression));
    }
}
