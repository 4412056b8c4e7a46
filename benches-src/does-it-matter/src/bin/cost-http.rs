//! One operation: the head of one HTTP/1.1 request, twelve headers in about 500 bytes, parsed by httparse.

use std::hint::black_box;
use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Nothing, Placement};
use httparse::{EMPTY_HEADER, Request, Status};

fn cost_http(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let mut done = 0;
    clock.time(1, |laps| {
        for () in laps {
            let mut headers = [EMPTY_HEADER; 32];
            let mut request = Request::new(&mut headers);
            let parsed = request.parse(black_box(HEAD))?;
            let whole = parsed == Status::Complete(HEAD.len()) && request.headers.len() == HEADERS;
            done += u64::from(black_box(&request).method == Some("POST") && whole);
        }
        Ok(())
    })?;
    Ok(done)
}

const HEAD: &[u8] = b"POST /orders/7/total?currency=gbp HTTP/1.1\r\n\
    Host: shop.example\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n\
    Accept: application/json, text/plain;q=0.9, */*;q=0.8\r\n\
    Accept-Language: en-GB,en;q=0.7\r\n\
    Accept-Encoding: gzip, deflate, br\r\n\
    Content-Type: application/json\r\n\
    Content-Length: 5000\r\n\
    Origin: https://shop.example\r\n\
    Referer: https://shop.example/orders/7\r\n\
    Cookie: session=0123456789abcdef0123456789abcdef\r\n\
    Connection: keep-alive\r\n\
    Cache-Control: no-cache\r\n\
    \r\n";
const HEADERS: usize = 12;

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_http)
}
