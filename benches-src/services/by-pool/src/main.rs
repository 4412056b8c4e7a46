//! The service, with a pool of threads that serve connections to their end.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

const THREADS: usize = 200;

fn main() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    thread::scope(|scope| {
        let serve = || -> io::Result<()> {
            loop {
                let (stream, _) = listener.accept()?;
                // What ends one connection is of no concern to the others.
                let _ = converse(stream);
            }
        };
        for _ in 1..THREADS {
            thread::Builder::new().spawn_scoped(scope, serve)?;
        }
        Ok(serve()?)
    })
}

fn converse(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut input, mut room) = (Vec::new(), [0; 8192]);
    loop {
        match stream.read(&mut room)? {
            0 => return Ok(()),
            bytes => input.extend_from_slice(&room[..bytes]),
        }
        while let Some((answer, request)) = plain::answer(&input)? {
            stream.write_all(&answer)?;
            input.drain(..request);
        }
    }
}
