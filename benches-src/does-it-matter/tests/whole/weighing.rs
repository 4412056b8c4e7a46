//! How programs are weighed: what is read from a file's headers, what a file may not say, and that each program that is named is there.

use crate::support::{description, observe};
use does_it_matter::elf::{Kind, Part, loaded};

const HEADER: usize = 64;

/// A file with sections: name, sort, flags and content; what begins as zeros has a size and no content.
struct File {
    names: Vec<u8>,
    content: Vec<u8>,
    headers: Vec<u8>,
}

impl File {
    fn new() -> Self {
        // The first section is none, and the first name is empty.
        Self { names: vec![0], content: vec![0; HEADER], headers: vec![0; HEADER] }
    }

    fn with(mut self, name: &str, sort: u32, flags: u64, content: &[u8]) -> Self {
        let (offset, size) = (self.content.len() as u64, content.len() as u64);
        self.header(sort, flags, offset, size);
        self.names.extend([name.as_bytes(), &[0]].concat());
        self.content.extend(content);
        self
    }

    fn with_zeros(mut self, size: u64) -> Self {
        self.header(8, 2, self.content.len() as u64, size);
        self.names.extend(b".bss\0");
        self
    }

    fn header(&mut self, sort: u32, flags: u64, offset: u64, size: u64) {
        let begin = self.headers.len();
        self.headers.extend((self.names.len() as u32).to_le_bytes());
        self.headers.extend(sort.to_le_bytes());
        for word in [flags, 0, offset, size] {
            self.headers.extend(word.to_le_bytes());
        }
        self.headers.resize(begin + HEADER, 0);
    }

    /// With the names as its last section, and the headers at the end.
    fn bytes(mut self) -> Vec<u8> {
        let (offset, size) = (self.content.len() as u64, self.names.len() as u64 + 10);
        self.header(3, 0, offset, size);
        self.names.extend(b".shstrtab\0");
        let count = (self.headers.len() / HEADER) as u16;
        let mut file = self.content;
        file.extend(&self.names);
        file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        let begin = file.len() as u64;
        file[0x28..0x30].copy_from_slice(&begin.to_le_bytes());
        for (at, field) in [(0x3a, HEADER as u16), (0x3c, count), (0x3e, count - 1)] {
            file[at..at + 2].copy_from_slice(&field.to_le_bytes());
        }
        file.extend(&self.headers);
        file
    }
}

fn ordinary() -> Vec<u8> {
    let file =
        File::new().with(".text", 1, 6, &[1; 100]).with(".eh_frame", 1, 2, &[2; 30]).with(".rela.dyn", 4, 2, &[3; 24]);
    file.with(".rodata", 1, 2, &[4; 50]).with_zeros(1 << 40).with(".symtab", 2, 0, &[5; 200]).bytes()
}

#[track_caller]
fn refused(file: &[u8], why: &str) {
    let error = format!("{:#}", loaded(file).expect_err(why));
    assert!(error.contains(why), "{error}");
}

fn changed(at: usize, to: &[u8]) -> Vec<u8> {
    let mut file = ordinary();
    file[at..at + to.len()].copy_from_slice(to);
    file
}

/// Where the header of a section begins, the one before all others counted.
fn header_of(section: usize) -> usize {
    let file = ordinary();
    u64::from_le_bytes(file[0x28..0x30].try_into().unwrap()) as usize + section * HEADER
}

#[test]
fn what_would_be_loaded_is_told_by_kind_and_symbols_and_zeros_are_not_in_it() {
    let expected = [(Kind::Code, 100), (Kind::Unwinding, 30), (Kind::Relocation, 24), (Kind::Data, 50)];
    assert_eq!(loaded(&ordinary()).unwrap(), expected.map(|(kind, bytes)| Part { kind, bytes }));
}

#[test]
fn what_is_no_such_file_is_refused() {
    refused(b"", "it is no ELF file");
    refused(b"#!/bin/sh\n", "it is no ELF file");
    refused(&changed(4, &[1]), "not with 64 bits");
    refused(&changed(5, &[2]), "not with 64 bits in little endian");
    refused(&changed(0x3a, &40u16.to_le_bytes()), "40 bytes instead of 64");
    refused(&changed(0x3c, &[0, 0]), "it has no section headers");
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_refused() {
    let file = ordinary();
    for length in 0..file.len() {
        assert!(loaded(&file[..length]).is_err(), "{length} of {} bytes", file.len());
    }
}

#[test]
fn what_lies_outside_of_the_file_is_refused() {
    refused(&changed(0x28, &u64::MAX.to_le_bytes()), "its section headers lie outside of it");
    refused(&changed(0x3c, &u16::MAX.to_le_bytes()), "its section headers lie outside of it");
    refused(&changed(0x3e, &[200, 0]), "the section with the names is none of its sections");
    refused(&changed(header_of(1) + 24, &u64::MAX.to_le_bytes()), "one of its sections lies outside of it");
    refused(&changed(header_of(1) + 32, &u64::MAX.to_le_bytes()), "one of its sections lies outside of it");
    refused(&changed(header_of(2), &9999u32.to_le_bytes()), "the name of one of its sections");
}

#[test]
fn bytes_are_not_counted_twice() {
    let whole = ordinary().len() as u64;
    let mut file = changed(header_of(1) + 24, &0u64.to_le_bytes());
    file[header_of(1) + 32..][..8].copy_from_slice(&whole.to_le_bytes());
    refused(&file, "bytes together");
}

/// No byte of a header may make it panic.
#[test]
fn a_file_with_a_byte_turned_is_read_or_refused() {
    let file = ordinary();
    for at in 0..file.len() {
        for turned in [0x01, 0x80, 0xff] {
            let mut file = file.clone();
            file[at] ^= turned;
            drop(loaded(&file));
        }
    }
}

#[test]
fn each_program_that_it_names_is_weighed_and_its_kinds_add_up() {
    let weigh = env!("CARGO_BIN_EXE_weigh");
    let described = description(weigh);
    let [binary] = &described.parameters[..] else { panic!("{described:?}") };
    assert!(binary.values.len() >= 10, "{binary:?}");
    for name in &binary.values {
        let seen = observe(&[weigh], &["--binary", name]);
        let of = |measure: &str| seen.measures[measure].values[0];
        let kinds = ["code_bytes", "unwinding_bytes", "relocation_bytes", "data_bytes"].map(of);
        assert!(kinds.iter().all(|bytes| *bytes > 0.0), "{name}: {seen:?}");
        assert_eq!(kinds.iter().sum::<f64>(), of("loaded_bytes"), "{name}");
        assert!(of("loaded_bytes") < of("file_bytes"), "{name}: {seen:?}");
    }
}
