//! The service, with a tokio task per connection.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        // What ends one connection is of no concern to the others.
        tokio::spawn(converse(stream));
    }
}

async fn converse(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut input, mut room) = (Vec::new(), [0; 8192]);
    loop {
        match stream.read(&mut room).await? {
            0 => return Ok(()),
            bytes => input.extend_from_slice(&room[..bytes]),
        }
        while let Some((answer, request)) = plain::answer(&input)? {
            stream.write_all(&answer).await?;
            input.drain(..request);
        }
    }
}
