//! What a program's tables say: where its functions lie, of which crate each is, and what the
//! loader fills in.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};
use object::{File, Object, ObjectSymbol, ObjectSymbolTable, RelocationTarget, SymbolKind};

/// A function, and where it lies.
pub struct Function {
    pub start: u64,
    pub end: u64,
    pub name: String,
    /// Its index among the project's own, if it is one of these.
    pub own: Option<usize>,
}

/// Where a place that the loader fills in will point.
pub enum Pointer {
    To(u64),
    Named(String),
}

/// All functions, by their addresses. Before those of an object that was linked stands its crate's
/// name, with one of a kind after a full stop.
pub fn functions(file: &File, own: &[String]) -> Result<BTreeMap<u64, Function>> {
    let mut functions: BTreeMap<u64, Function> = BTreeMap::new();
    let (mut of_crate, mut seen) = (String::new(), BTreeSet::new());
    for symbol in file.symbols() {
        let name = symbol.name().unwrap_or_default();
        match symbol.kind() {
            SymbolKind::File => of_crate = name.split('.').next().unwrap_or_default().to_owned(),
            SymbolKind::Text if symbol.address() > 0 => {
                let name = format!("{:#}", rustc_demangle::demangle(name));
                // What a library offers stands behind all objects, and says its crate in its name.
                let of_crate =
                    if symbol.is_local() { of_crate.clone() } else { crate_in(&name, own).unwrap_or_default() };
                let is_own = is_measured(&of_crate, &name, own);
                seen.insert(of_crate);
                let (start, end) = (symbol.address(), symbol.address() + symbol.size());
                // What lies at one address under several names goes by the first of them.
                let known =
                    functions.entry(start).or_insert_with(|| Function { start, end, name: name.clone(), own: None });
                known.name = known.name.clone().min(name);
                known.end = known.end.max(end);
                known.own = known.own.or(is_own.then_some(0));
            }
            _ => {}
        }
    }
    let program = own.first().context("a program has a name")?;
    ensure!(seen.contains(program), "it has no symbols of {program}; was it stripped?");
    for (index, function) in functions.values_mut().filter(|function| function.own.is_some()).enumerate() {
        function.own = Some(index);
    }
    Ok(functions)
}

/// The first of these crates, or the harness, that a function's name has the path of.
fn crate_in(name: &str, own: &[String]) -> Option<String> {
    let words = name.split(|sign: char| !(sign.is_alphanumeric() || "_:".contains(sign)));
    let paths = words.filter_map(|word| Some(word.split_once("::")?.0));
    paths.into_iter().find(|path| *path == "harness" || own.iter().any(|own| own == path)).map(str::to_owned)
}

/// Whether a function is what was measured: of the project's own crates, or of the harness's timed
/// section. How parameters are read is not, nor is the number that a compiler gives to a type.
fn is_measured(of_crate: &str, name: &str, own: &[String]) -> bool {
    let is_timed = of_crate == "harness" && name.contains("harness::laps::");
    let is_left_out = name.contains("clap_builder") || name.ends_with("core::any::Any>::type_id");
    (is_timed || own.iter().any(|own| own == of_crate)) && !is_left_out
}

/// The places that the loader fills in, by their addresses.
pub fn pointers(file: &File) -> Result<BTreeMap<u64, Pointer>> {
    let names = file.dynamic_symbol_table();
    let mut pointers = BTreeMap::new();
    for (place, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let pointer = match relocation.target() {
            RelocationTarget::Symbol(index) => {
                let name =
                    names.as_ref().and_then(|names| Some(names.symbol_by_index(index).ok()?.name().ok()?.to_owned()));
                Pointer::Named(name.context("a place points to a symbol that is not there")?)
            }
            RelocationTarget::Absolute => Pointer::To(relocation.addend().cast_unsigned()),
            other => bail!("a place points to {other:?}"),
        };
        pointers.insert(place, pointer);
    }
    Ok(pointers)
}
