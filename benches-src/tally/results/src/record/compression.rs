//! What is packed by zstd, and unpacked with bounds: a few bytes can say that they are gigabytes.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use zstd::stream::read::Decoder;
use zstd::stream::write::Encoder;
use zstd::zstd_safe::find_frame_compressed_size;

/// A file of a session is at most this long, in bytes. The longest of this book has 2 MB.
const MOST_PACKED_BYTES: u64 = 64 << 20;

/// How far back likeness is looked for, as a power of two of bytes: farther than a session is long.
/// Whoever unpacks needs as much memory.
const WINDOW_LOG: u32 = 25;

/// Slow to pack, and as quick to unpack as any.
const LEVEL: i32 = 19;

/// Quick to pack, for what is kept on this machine only.
const QUICK_LEVEL: i32 = 3;

/// Packs it as one frame.
pub fn pack(bytes: &[u8]) -> Result<Vec<u8>> {
    pack_at(LEVEL, bytes)
}

/// Packs it as one frame of half as many bytes more, in a small part of the time.
pub fn pack_quickly(bytes: &[u8]) -> Result<Vec<u8>> {
    pack_at(QUICK_LEVEL, bytes)
}

fn pack_at(level: i32, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = Encoder::new(Vec::new(), level)?;
    encoder.set_pledged_src_size(Some(bytes.len() as u64))?;
    encoder.include_checksum(true)?;
    if bytes.len() > 1 << 20 {
        encoder.long_distance_matching(true)?;
        encoder.window_log(WINDOW_LOG)?;
    }
    std::io::Write::write_all(&mut encoder, bytes)?;
    Ok(encoder.finish()?)
}

/// Unpacks text of at most so many bytes, from one frame or several that stand one after the other.
pub fn unpack(packed: &[u8], most_bytes: u64) -> Result<String> {
    let mut decoder = Decoder::with_buffer(packed)?;
    decoder.window_log_max(WINDOW_LOG)?;
    let mut bytes = Vec::new();
    // What was allocated is what has come, never what was announced.
    decoder.take(most_bytes + 1).read_to_end(&mut bytes).context("it cannot be unpacked")?;
    ensure!(bytes.len() as u64 <= most_bytes, "it unpacks to more than {most_bytes} bytes, which is no session");
    String::from_utf8(bytes).context("what it unpacks to is no text")
}

/// The frames of which a file consists, each still packed.
pub fn frames(mut packed: &[u8]) -> Result<Vec<&[u8]>> {
    let mut frames = Vec::new();
    while !packed.is_empty() {
        let length = find_frame_compressed_size(packed).ok().filter(|length| (1..=packed.len()).contains(length));
        let length = length.ok_or_else(|| anyhow!("it was cut off, or it was never packed by zstd"))?;
        let (frame, rest) = packed.split_at(length);
        frames.push(frame);
        packed = rest;
    }
    Ok(frames)
}

/// The bytes of a file, if it is one and no longer than a session's files are. `None` where there
/// is none.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata?,
    };
    ensure!(metadata.is_file(), "it is no file");
    let most = MOST_PACKED_BYTES;
    ensure!(metadata.len() <= most, "it has more than {} MiB, which no session has", most >> 20);
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MOST: u64 = 1 << 20;

    proptest! {
        #[test]
        fn text_comes_back_and_what_was_changed_or_cut_off_does_not(
            text in "[ -~]{0,200}",
            at in any::<prop::sample::Index>(),
            to in any::<u8>(),
        ) {
            let packed = pack(text.as_bytes()).unwrap();
            prop_assert_eq!(&unpack(&packed, MOST).unwrap(), &text);
            prop_assert_eq!(frames(&packed).unwrap(), [packed.as_slice()]);
            let at = at.index(packed.len());
            prop_assert!(frames(&packed[..at]).is_err() || at == 0);
            prop_assert!(unpack(&packed[..at], MOST).map_or(true, |text| at == 0 && text.is_empty()));
            let mut changed = packed.clone();
            changed[at] = to;
            prop_assert!(unpack(&changed, MOST).map_or(true, |read| read == text));
        }

        #[test]
        fn bytes_of_any_kind_are_unpacked_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = frames(&bytes);
            let _ = unpack(&bytes, MOST);
        }
    }

    #[test]
    fn frames_stand_one_after_the_other_and_are_unpacked_together_or_one_by_one() {
        let [one, two] = ["one\n", "two\n"].map(|text| pack(text.as_bytes()).unwrap());
        let both = [one.clone(), two.clone()].concat();
        assert_eq!(frames(&both).unwrap(), [&one[..], &two[..]]);
        assert_eq!(unpack(&both, MOST).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn what_unpacks_to_gigabytes_is_refused_at_the_bound() {
        // Four gigabytes of nothing, in frames of 64 MiB.
        let frame = pack(&vec![0; 64 << 20]).unwrap();
        let bomb = frame.repeat(64);
        assert!(bomb.len() < 1 << 20);
        let error = unpack(&bomb, MOST).unwrap_err().to_string();
        assert!(error.contains("unpacks to more than 1048576 bytes"), "{error}");
    }
}
