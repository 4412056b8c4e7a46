//! One operation: one line that a client sends over a socket and gets back, from tasks on tokio's single-threaded runtime.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use async_vs_manual::sockets::Line;
use harness::Placement;
use runtime::Flavor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn echo_tokio(streams: Vec<std::net::TcpStream>, placement: Placement) -> Result<u64> {
    Flavor::Current.start(placement)?.block_on(async {
        let mut tasks = Vec::new();
        for stream in streams {
            tasks.push(tokio::spawn(answer(TcpStream::from_std(stream)?)));
        }
        let mut answers = 0;
        for task in tasks {
            answers += task.await??;
        }
        Ok(answers)
    })
}

async fn answer(mut stream: TcpStream) -> Result<u64> {
    let (mut line, mut answers) = (Line::default(), 0);
    loop {
        while let Some(complete) = line.complete() {
            stream.write_all(complete).await?;
            let bytes = complete.len();
            line.forget(bytes);
            answers += 1;
        }
        ensure!(!line.room().is_empty(), "a line is too long");
        let bytes = stream.read(line.room()).await?;
        if bytes == 0 {
            return Ok(answers);
        }
        line.came(bytes);
    }
}

fn main() -> ExitCode {
    async_vs_manual::sockets::main(harness::name!(), echo_tokio)
}
