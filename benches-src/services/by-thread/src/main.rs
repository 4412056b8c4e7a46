//! The service, with a thread per connection.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

fn main() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept()?;
        // What ends one connection is of no concern to the others.
        thread::Builder::new().spawn(move || converse(stream))?;
    }
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
