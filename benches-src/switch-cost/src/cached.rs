//! The file that programs read: 1 MiB in the page cache, in which each number of eight bytes says where it stands.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

/// Its size.
const FILE_BYTES: u64 = 1 << 20;

/// How it is read.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Reading {
    /// Bytes of each read of a file of 1 MiB
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u64).range(8..=FILE_BYTES))]
    pub read_bytes: u64,
}

impl Reading {
    /// Reads of the whole file, which are one lap.
    #[inline]
    pub fn pieces(self) -> u64 {
        FILE_BYTES / self.read_bytes
    }

    /// Where each piece begins.
    #[inline]
    pub fn places(self) -> impl Iterator<Item = u64> + Send {
        (0..self.pieces()).map(move |piece| piece * self.read_bytes)
    }

    /// What a piece is read into.
    #[inline]
    pub fn buffer(self) -> Vec<u8> {
        vec![0; self.read_bytes as usize]
    }
}

/// Makes the file in the folder for temporary files. It loses its name at once, so that nothing is left of it, however the program ends.
pub fn file() -> Result<File> {
    let path = env::temp_dir().join(format!("cached-{}", process::id()));
    let numbers: Vec<u8> = (0..FILE_BYTES).step_by(8).flat_map(u64::to_le_bytes).collect();
    let make = || {
        let mut file = File::options().read(true).write(true).create_new(true).open(&path)?;
        fs::remove_file(&path)?;
        file.write_all(&numbers)?;
        io::Result::Ok(file)
    };
    make().with_context(|| without_room(&path))
}

fn without_room(path: &Path) -> String {
    format!(
        "no file of 1 MiB can be written to {}; set TMPDIR to a folder that has room and is writable",
        path.display()
    )
}

/// How many reads it was: one, if that piece of the file came, and none if something else did.
#[inline]
pub fn one_if_from(place: u64, piece: &[u8]) -> u64 {
    let begin = piece.first_chunk().map(|begin| u64::from_le_bytes(*begin));
    // Where a piece begins within a number, its first number is made of two.
    u64::from(!place.is_multiple_of(8) || begin == Some(place))
}
