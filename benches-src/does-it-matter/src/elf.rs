//! What would be loaded of a program's file, by its section headers: ELF with 64 bits, little endian. Whatever else it may be is an error.

use anyhow::{Context, Result, ensure};

/// A section that would be loaded.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is for.
    pub kind: Kind,
    /// How much of the file it is.
    pub bytes: u64,
}

/// What a section is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Instructions.
    Code,
    /// Tables by which a panic unwinds the stack.
    Unwinding,
    /// Places that the loader has to correct, since it decides where the program lies.
    Relocation,
    /// Constants, tables of functions, variables with a first value.
    Data,
}

/// The sections that would be loaded, in the order in which they stand. Memory that begins as zeros is no part of the file, and so not here.
pub fn loaded(file: &[u8]) -> Result<Vec<Part>> {
    ensure!(file.starts_with(b"\x7fELF"), "it is no ELF file");
    let [class, order] = field(file, 4)?;
    ensure!((class, order) == (2, 1), "it is ELF, but not with 64 bits in little endian");
    let first = usize::try_from(u64::from_le_bytes(field(file, 0x28)?))?;
    let [size, count, names] = [0x3a, 0x3c, 0x3e].map(|at| field(file, at).map(u16::from_le_bytes));
    let (size, count, names) = (usize::from(size?), usize::from(count?), usize::from(names?));
    ensure!(size == HEADER_BYTES, "its section headers have {size} bytes instead of {HEADER_BYTES}");
    ensure!(count > 0, "it has no section headers, or more than their number has room for");
    let headers = slice(file, first, count * HEADER_BYTES).context("its section headers lie outside of it")?;
    let sections: Vec<_> = headers.chunks_exact(HEADER_BYTES).map(Section::of).collect::<Result<_>>()?;
    let names = sections.get(names).context("the section with the names is none of its sections")?.of_file(file)?;
    let mut parts = Vec::new();
    for section in sections.iter().filter(|section| section.flags & ALLOCATED != 0 && section.sort != ZEROS) {
        let bytes = section.of_file(file)?.len() as u64;
        parts.push(Part { kind: section.kind(names)?, bytes });
    }
    // Sections that overlapped would be counted twice.
    let sum: u64 = parts.iter().map(|part| part.bytes).sum();
    ensure!(sum <= file.len() as u64, "its sections have {sum} bytes together, and it has {}", file.len());
    Ok(parts)
}

const HEADER_BYTES: usize = 64;
/// Flags of sections.
const ALLOCATED: u64 = 2;
const INSTRUCTIONS: u64 = 4;
/// Sorts of sections.
const ZEROS: u32 = 8;
const RELOCATIONS: [u32; 3] = [4, 9, 19];

struct Section {
    /// Where its name begins among the names.
    name: u32,
    sort: u32,
    flags: u64,
    offset: u64,
    size: u64,
}

impl Section {
    fn of(header: &[u8]) -> Result<Self> {
        let [name, sort] = [0, 4].map(|at| field(header, at).map(u32::from_le_bytes));
        let [flags, offset, size] = [8, 24, 32].map(|at| field(header, at).map(u64::from_le_bytes));
        Ok(Self { name: name?, sort: sort?, flags: flags?, offset: offset?, size: size? })
    }

    fn of_file<'a>(&self, file: &'a [u8]) -> Result<&'a [u8]> {
        let (offset, size) = (usize::try_from(self.offset)?, usize::try_from(self.size)?);
        slice(file, offset, size).context("one of its sections lies outside of it")
    }

    fn kind(&self, names: &[u8]) -> Result<Kind> {
        let rest =
            names.get(self.name as usize..).context("the name of one of its sections lies outside of the names")?;
        let name = rest.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(match name {
            _ if self.flags & INSTRUCTIONS != 0 => Kind::Code,
            _ if RELOCATIONS.contains(&self.sort) => Kind::Relocation,
            b".eh_frame" | b".eh_frame_hdr" | b".gcc_except_table" => Kind::Unwinding,
            _ => Kind::Data,
        })
    }
}

fn slice(file: &[u8], offset: usize, size: usize) -> Option<&[u8]> {
    file.get(offset..offset.checked_add(size)?)
}

fn field<const BYTES: usize>(bytes: &[u8], at: usize) -> Result<[u8; BYTES]> {
    let found = slice(bytes, at, BYTES).and_then(|found| found.try_into().ok());
    found.context("it ends within a header")
}
