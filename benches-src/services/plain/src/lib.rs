//! Requests and answers without an HTTP library, of which only the head of a request is parsed by one.

use std::io::{self, ErrorKind};

const MOST_HEADERS: usize = 32;

/// The answer to the first request in these bytes, and how many bytes that request has; `None` if more has to come.
pub fn answer(bytes: &[u8]) -> io::Result<Option<(Vec<u8>, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head) = request.parse(bytes).map_err(malformed)? else { return Ok(None) };
    let length = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = std::str::from_utf8(length.map_or(b"", |header| header.value)).map_err(malformed)?;
    let end = head + length.trim().parse::<u32>().map_err(malformed)? as usize;
    let Some(body) = bytes.get(head..end) else { return Ok(None) };
    let json = orders::answer(body).map_err(malformed)?;
    let length = json.len();
    let mut answer =
        format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n").into_bytes();
    answer.extend(json);
    Ok(Some((answer, end)))
}

fn malformed(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}
