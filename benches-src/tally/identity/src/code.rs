//! What a program executes of this project's own code, as one hash of its machine code: equal
//! hashes, equal work.
//!
//! Hashed are the functions that were compiled of the project's crates, as the linker kept them:
//! what nothing calls is not in the program. Left out is what moves without a change to what runs:
//! addresses, names and order of functions, paths and lines that a panic would say, the words of
//! `--help`. What another function or a constant is, stands in the place of its address: of the
//! project's own functions what they do, of others their names, of constants their bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
use object::{Architecture, File, Object, ObjectSection, SectionKind};

use super::checksum::sha256;
use super::symbols::{Function, Pointer, functions, pointers};

/// The hash of the program in this file, given the crates whose code is the project's own, by their
/// names in symbols; its own crate among them.
pub fn hash_of(program: &Path, own: &[String]) -> Result<String> {
    hash(&read(program)?, own).with_context(|| cannot_be_compared(program))
}

/// The project's own functions that are not the same in two builds of a program, by their names:
/// each is looked at by itself, whatever becomes of those that it calls.
pub fn functions_that_differ(builds: [&Path; 2], own: &[String]) -> Result<BTreeSet<String>> {
    let [one, other] = builds.map(|build| {
        let bytes = read(build)?;
        image(&bytes, own).map(|image| image.functions_by_name()).with_context(|| cannot_be_compared(build))
    });
    let (one, other) = (one?, other?);
    let names = one.keys().chain(other.keys());
    Ok(names.filter(|name| one.get(*name) != other.get(*name)).cloned().collect())
}

fn read(program: &Path) -> Result<Vec<u8>> {
    fs::read(program).with_context(|| format!("cannot read {}", program.display()))
}

fn cannot_be_compared(program: &Path) -> String {
    format!("the machine code of {} cannot be compared", program.display())
}

fn hash(program: &[u8], own: &[String]) -> Result<String> {
    let image = image(program, own)?;
    let parts: Vec<Vec<Part>> = image.own.iter().map(|function| image.parts(function)).collect();
    // What a function calls decides what it does, and so on: each round looks one call further.
    const CALLS: usize = 8;
    let mut hashes = vec![String::new(); parts.len()];
    for _ in 0..CALLS {
        hashes = parts.iter().map(|parts| sha256(&said(parts, &hashes))).collect();
    }
    hashes.sort();
    Ok(sha256(hashes.concat().as_bytes())[..16].to_owned())
}

fn image<'a>(program: &'a [u8], own: &[String]) -> Result<Image<'a>> {
    let file = File::parse(program).context("it is no program")?;
    ensure!(
        file.architecture() == Architecture::X86_64,
        "it is of {:?}, and only that of x86-64 is read",
        file.architecture()
    );
    Image::read(&file, own)
}

/// What a function, or a constant, is made of.
enum Part {
    Bytes(Vec<u8>),
    /// A place in one of the project's own functions, by its index.
    Own(usize, u64),
}

fn said(parts: &[Part], hashes: &[String]) -> Vec<u8> {
    let one = |part: &Part| match part {
        Part::Bytes(bytes) => bytes.clone(),
        Part::Own(index, at) => format!("<{}+{at}>", hashes[*index]).into_bytes(),
    };
    parts.iter().flat_map(one).collect()
}

struct Section<'a> {
    start: u64,
    end: u64,
    kind: SectionKind,
    bytes: &'a [u8],
}

/// A program as it would lie in memory.
struct Image<'a> {
    sections: Vec<Section<'a>>,
    functions: BTreeMap<u64, Function>,
    pointers: BTreeMap<u64, Pointer>,
    /// Every place that something points to: a constant ends where the next begins.
    marks: BTreeSet<u64>,
    /// Constants that are lists of distances, each from the list's own beginning to the case of a
    /// `match`, or to another constant.
    lists: BTreeSet<u64>,
    /// Where the project's own functions lie.
    own: Vec<(u64, u64)>,
}

impl<'a> Image<'a> {
    fn read(file: &File<'a>, own: &[String]) -> Result<Self> {
        let sections = file.sections().filter(|section| section.address() > 0);
        let section = |section: object::Section<'a, '_>| -> Result<Section<'a>> {
            let (start, kind) = (section.address(), section.kind());
            Ok(Section { start, end: start + section.size(), kind, bytes: section.data()? })
        };
        let sections = sections.map(section).collect::<Result<Vec<_>>>()?;
        let functions = functions(file, own)?;
        let mut own: Vec<_> = functions.values().filter_map(|one| Some((one.own?, (one.start, one.end)))).collect();
        own.sort_unstable();
        let own = own.into_iter().map(|(_, place)| place).collect();
        let (marks, lists) = <(BTreeSet<u64>, BTreeSet<u64>)>::default();
        let mut image = Self { sections, functions, pointers: pointers(file)?, marks, lists, own };
        (image.marks, image.lists) = image.marks();
        let of_lists = |list: &u64| image.distances(*list).collect::<Vec<_>>();
        let further: Vec<u64> = image.lists.iter().flat_map(of_lists).collect();
        image.marks.extend(further);
        Ok(image)
    }

    /// What each of the project's own functions is made of, those that it calls by their names.
    /// Some have one name: they are of several types.
    fn functions_by_name(&self) -> BTreeMap<String, Vec<Vec<u8>>> {
        // They are numbered in this order.
        let own = self.functions.values().filter(|function| function.own.is_some());
        let names: Vec<String> = own.map(|function| function.name.clone()).collect();
        let mut all: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
        for (name, place) in names.iter().zip(&self.own) {
            all.entry(name.clone()).or_default().push(said(&self.parts(place), &names));
        }
        all.values_mut().for_each(|of_one_name| of_one_name.sort());
        all
    }

    fn section(&self, address: u64) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| (section.start..section.end).contains(&address))
    }

    /// From an address on, as far as its section, or another address, goes.
    fn bytes(&self, start: u64, end: u64) -> &'a [u8] {
        let Some(section) = self.section(start) else { return &[] };
        let (from, to) = ((start - section.start) as usize, (end.min(section.end) - section.start) as usize);
        section.bytes.get(from..to).unwrap_or_default()
    }

    fn instructions(&self, start: u64, end: u64, mut each: impl FnMut(&Instruction, &[u8], [usize; 4])) {
        let bytes = self.bytes(start, end);
        let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            let at = (instruction.ip() - start) as usize;
            let offsets = decoder.get_constant_offsets(&instruction);
            let [displacement, immediate] = [
                [offsets.displacement_offset(), offsets.displacement_size()],
                [offsets.immediate_offset(), offsets.immediate_size()],
            ];
            let places = [displacement[0], displacement[1], immediate[0], immediate[1]];
            each(&instruction, &bytes[at..at + instruction.len()], places);
        }
    }

    /// What pointers and instructions point to, and which of it is a list of distances: one of them
    /// is loaded, and the list's own address added.
    fn marks(&self) -> (BTreeSet<u64>, BTreeSet<u64>) {
        let pointed = self.pointers.values().filter_map(|pointer| match pointer {
            Pointer::To(address) => Some(*address),
            Pointer::Named(_) => None,
        });
        let (mut marks, mut lists): (BTreeSet<u64>, _) = (pointed.collect(), BTreeSet::new());
        let mut addresses = BTreeMap::new();
        let mut loaded = None;
        for section in self.sections.iter().filter(|section| section.kind == SectionKind::Text) {
            self.instructions(section.start, section.end, |instruction, _, _| {
                let registers = (instruction.op0_register(), instruction.op1_register());
                if instruction.is_ip_rel_memory_operand() {
                    let address = instruction.ip_rel_memory_address();
                    marks.insert(address);
                    if instruction.mnemonic() == Mnemonic::Lea {
                        addresses.insert(registers.0, address);
                    }
                } else if instruction.mnemonic() == Mnemonic::Movsxd && instruction.memory_index_scale() == 4 {
                    let list = addresses.get(&instruction.memory_base()).copied();
                    loaded = list.map(|list| ((registers.0, instruction.memory_base()), list));
                } else if let Some((summands, list)) = loaded
                    && instruction.mnemonic() == Mnemonic::Add
                    && (registers == summands || (registers.1, registers.0) == summands)
                {
                    lists.insert(list);
                }
            });
        }
        (marks, lists)
    }

    /// Where the distances of a list lead.
    fn distances(&self, list: u64) -> impl Iterator<Item = u64> {
        let end = self.marks.range(list + 1..).next().copied().unwrap_or(u64::MAX);
        let entries = self
            .bytes(list, end)
            .chunks_exact(4)
            .map(|entry| i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]));
        let targets = entries.map(move |distance| list.wrapping_add_signed(i64::from(distance)));
        targets.take_while(|target| self.section(*target).is_some())
    }

    /// A function's instructions, with what they mean in the places of addresses.
    fn parts(&self, (start, end): &(u64, u64)) -> Vec<Part> {
        let mut parts = Vec::new();
        self.instructions(*start, *end, |instruction, bytes, [displacement, of_it, immediate, of_this]| {
            let mut bytes = bytes.to_vec();
            let is_branch = instruction.op0_kind() == OpKind::NearBranch64;
            let target = if instruction.is_ip_rel_memory_operand() {
                bytes[displacement..displacement + of_it].fill(0);
                Some(instruction.ip_rel_memory_address())
            } else if is_branch && !(*start..*end).contains(&instruction.near_branch_target()) {
                bytes[immediate..immediate + of_this].fill(0);
                Some(instruction.near_branch_target())
            } else {
                None
            };
            parts.push(Part::Bytes(bytes));
            if let Some(target) = target {
                self.meaning(target, (*start, *end), 0, &mut parts);
            }
        });
        parts
    }

    /// What lies at an address that a function, or a constant that it uses, points to.
    fn meaning(&self, address: u64, of: (u64, u64), depth: usize, parts: &mut Vec<Part>) {
        // A list that leads to itself must end somewhere.
        const DEEPEST: usize = 6;
        let mut say = |words: String| parts.push(Part::Bytes(words.into_bytes()));
        let Some(section) = self.section(address) else { return say("<nowhere>".to_owned()) };
        match section.kind {
            SectionKind::Text => self.code(address, of, depth, parts),
            SectionKind::UninitializedData | SectionKind::UninitializedTls => say("<zeros>".to_owned()),
            _ if depth > DEEPEST => say("<deep>".to_owned()),
            _ => self.constant(address, of, depth, parts),
        }
    }

    fn code(&self, address: u64, of: (u64, u64), depth: usize, parts: &mut Vec<Part>) {
        let function = self.functions.range(..=address).next_back().map(|(_, function)| function);
        let Some(function) = function.filter(|function| address < function.end.max(function.start + 1)) else {
            return self.stub(address, of, depth, parts);
        };
        parts.push(match function.own {
            Some(index) => Part::Own(index, address - function.start),
            None => Part::Bytes(format!("<{}+{}>", function.name, address - function.start).into_bytes()),
        });
    }

    /// A jump through a table that the loader fills in, which has no name of its own.
    fn stub(&self, address: u64, of: (u64, u64), depth: usize, parts: &mut Vec<Part>) {
        const LONGEST: u64 = 16;
        let mut through = None;
        self.instructions(address, address + LONGEST, |instruction, _, _| {
            if through.is_none() && instruction.is_ip_rel_memory_operand() {
                through = Some(instruction.ip_rel_memory_address());
            }
        });
        match through.filter(|through| self.section(*through).is_some_and(|own| own.kind != SectionKind::Text)) {
            Some(through) => self.meaning(through, of, depth + 1, parts),
            None => parts.push(Part::Bytes(b"<code without a name>".to_vec())),
        }
    }

    fn constant(&self, start: u64, of: (u64, u64), depth: usize, parts: &mut Vec<Part>) {
        let end = self.marks.range(start + 1..).next().copied().unwrap_or(u64::MAX);
        let bytes = self.bytes(start, end);
        if self.lists.contains(&start) {
            for target in self.distances(start) {
                match target.checked_sub(of.0).filter(|case| *case < of.1 - of.0) {
                    Some(case) => parts.push(Part::Bytes(format!("<case {case}>").into_bytes())),
                    None => self.meaning(target, of, depth + 1, parts),
                }
            }
            return;
        }
        let mut at = start;
        let end = start + bytes.len() as u64;
        let mut plain = Vec::new();
        while at < end {
            let Some(pointer) = self.pointers.get(&at) else {
                plain.push(bytes[(at - start) as usize]);
                at += 1;
                continue;
            };
            parts.push(Part::Bytes(std::mem::take(&mut plain)));
            if self.is_source_location(at) {
                // A path with its length, then a line and a column.
                const BYTES: u64 = 24;
                parts.push(Part::Bytes(b"<line>".to_vec()));
                at += BYTES;
                continue;
            }
            match pointer {
                Pointer::To(address) => self.meaning(*address, of, depth + 1, parts),
                Pointer::Named(name) => parts.push(Part::Bytes(format!("<{name}>").into_bytes())),
            }
            at += 8;
        }
        // Room up to the next constant is zeros.
        let used = plain.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        plain.truncate(used);
        parts.push(Part::Bytes(plain));
    }

    /// Whether a place where in the source something may panic lies here.
    fn is_source_location(&self, at: u64) -> bool {
        let Some(Pointer::To(path)) = self.pointers.get(&at) else { return false };
        let length = self.bytes(at + 8, at + 16).try_into().map_or(0, u64::from_le_bytes);
        (1..4096).contains(&length) && self.bytes(*path, path + length).ends_with(b".rs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_compared_says_why() {
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        let refused = |bytes: &[u8], name: &str, reason: &str| {
            let said = hash(bytes, &[name.to_owned()]).unwrap_err().to_string();
            assert!(said.contains(reason), "{said}");
        };
        refused(&own, "nobody", "it has no symbols of nobody; was it stripped?");
        refused(b"#!/bin/sh\n", "nobody", "it is no program");
        let mut of_arm = own;
        // The kind of processor.
        of_arm[0x12] = 0xb7;
        refused(&of_arm, "tally", "it is of Aarch64, and only that of x86-64 is read");
    }
}
