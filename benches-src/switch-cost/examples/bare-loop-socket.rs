//! The loop of `loop-socket` without the harness, to count what the harness adds: `bare-loop-socket HOPS LAPS`.

use std::hint::black_box;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

fn main() -> std::io::Result<()> {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|word| word.parse().expect("a number")).collect();
    let pair = || UnixStream::pair().map(|(to, from)| (to, from, Vec::<u8>::new()));
    let mut pairs: Vec<_> = (0..arguments[0]).map(|_| pair()).collect::<Result<_, _>>()?;
    let (mut buffer, mut passed) = (vec![0; 1], 0);
    for _ in 0..arguments[1] {
        for (to, from, working_set) in &mut pairs {
            to.write_all(&[1])?;
            passed += from.read(&mut buffer)? as u64;
            working_set.iter_mut().step_by(64).for_each(|byte| *byte = black_box(*byte).wrapping_add(1));
        }
    }
    assert_eq!(passed, arguments[0] * arguments[1]);
    Ok(())
}
