//! The loop of `loop-socket` without the harness, to count what the harness adds: `bare-loop-socket HOPS LAPS`.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

fn main() -> std::io::Result<()> {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|word| word.parse().expect("a number")).collect();
    let mut pairs: Vec<_> = (0..arguments[0]).map(|_| UnixStream::pair()).collect::<Result<_, _>>()?;
    let (mut buffer, mut passed) = ([0], 0);
    for _ in 0..arguments[1] {
        for (to, from) in &mut pairs {
            to.write_all(&[1])?;
            passed += from.read(&mut buffer)? as u64;
        }
    }
    assert_eq!(passed, arguments[0] * arguments[1]);
    Ok(())
}
