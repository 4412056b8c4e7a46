//! HTTP/1.1 as far as a service needs it that is posted orders: what is refused, what is done with a body, and, for the servers that do
//! without an HTTP library, where a request ends.

use std::io::Write;
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::ValueEnum;
use serde::Serialize;

use crate::order::Order;

/// A longer body is refused.
pub const LARGEST_BODY: usize = 1 << 20;

/// A longer head is refused by the servers that parse it themselves.
const LARGEST_HEAD: usize = 16 << 10;

/// More headers than these are refused likewise.
const MOST_HEADERS: usize = 32;

/// What every server does with a body: reads the order, adds up what it costs, and writes it.
pub fn handle(json: &[u8], answer: &mut Vec<u8>) -> Result<(), Refusal> {
    let mut order = Order::from_json(json).map_err(|_| Refusal::Malformed)?;
    order.add_up();
    serde_json::to_writer(answer, &order).map_err(|_| Refusal::Malformed)
}

/// How long a body will be, from its header. Every server asks for one.
pub fn body_length(content_length: Option<&[u8]>) -> Result<usize, Refusal> {
    let text = std::str::from_utf8(content_length.ok_or(Refusal::NoLength)?).map_err(|_| Refusal::Malformed)?;
    let length: u64 = text.trim().parse().map_err(|_| Refusal::Malformed)?;
    if length > LARGEST_BODY as u64 { Err(Refusal::TooLarge) } else { Ok(length as usize) }
}

/// Why a request is not answered. The connection is closed after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is not HTTP, or its body is no order.
    Malformed,
    /// It does not say how long its body is.
    NoLength,
    /// Its body would be longer than [`LARGEST_BODY`].
    TooLarge,
}

impl Refusal {
    /// The status with its reason.
    pub fn status(self) -> (u16, &'static str) {
        match self {
            Refusal::Malformed => (400, "Bad Request"),
            Refusal::NoLength => (411, "Length Required"),
            Refusal::TooLarge => (413, "Content Too Large"),
        }
    }
}

/// A connection waits for its next request with so much room of its own.
pub const WAITING_ROOM: usize = 64;

/// Whose buffers requests and answers are put into.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Buffers {
    /// All connections', each lent to one that has something to put into it
    Lent,
    /// Each connection's own
    Own,
}

impl Buffers {
    /// Where a connection takes them from.
    pub fn stock(self, of_all: &Stock) -> Stock {
        match self {
            Buffers::Lent => of_all.clone(),
            Buffers::Own => Stock::default(),
        }
    }
}

/// Buffers that have nothing in them. Those that were given back last are lent first: they are the likeliest to be in a cache still.
#[derive(Clone, Default)]
pub struct Stock(Arc<Mutex<Vec<Pair>>>);

#[derive(Default)]
struct Pair {
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Stock {
    /// Lends buffers for what begins with these bytes.
    pub fn lend(&self, begin: &[u8]) -> Exchange<'_> {
        const SMALLEST_INPUT: usize = 8 << 10;
        let mut buffers = self.pairs().pop().unwrap_or_default();
        let bytes = buffers.input.len().max(SMALLEST_INPUT).max(begin.len());
        buffers.input.resize(bytes, 0);
        buffers.input[..begin.len()].copy_from_slice(begin);
        Exchange { stock: self, buffers, filled: begin.len(), head: None }
    }

    fn pairs(&self) -> MutexGuard<'_, Vec<Pair>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What has come on a connection, and the answer that is to go out. Its buffers go back to the stock with it.
pub struct Exchange<'a> {
    stock: &'a Stock,
    buffers: Pair,
    filled: usize,
    /// Of the first request, once it has come as a whole.
    head: Option<Head>,
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        self.stock.pairs().push(take(&mut self.buffers));
    }
}

#[derive(Clone, Copy)]
struct Head {
    bytes: usize,
    body_bytes: usize,
    /// The client will send nothing after this request.
    last: bool,
}

/// What is to be written, and whether the connection is closed then.
pub struct Answer<'a> {
    /// Head and body.
    pub bytes: &'a [u8],
    /// Whether a request was done as it asked.
    pub served: bool,
    /// Nothing follows on this connection.
    pub last: bool,
}

impl Exchange<'_> {
    /// Nothing has come that is not answered.
    pub fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Where the next bytes go.
    pub fn room(&mut self) -> &mut [u8] {
        let input = &mut self.buffers.input;
        if self.filled == input.len() {
            input.resize(2 * input.len(), 0);
        }
        &mut input[self.filled..]
    }

    /// So many bytes have come.
    pub fn came(&mut self, bytes: usize) {
        self.filled += bytes;
    }

    /// The answer to the first request, once it has come as a whole. The request is forgotten with it.
    pub fn answer(&mut self) -> Option<Answer<'_>> {
        let head = match self.head() {
            Ok(Some(head)) if head.bytes + head.body_bytes <= self.filled => head,
            Ok(_) => return None,
            Err(refusal) => return Some(refuse(&mut self.buffers.output, refusal)),
        };
        let end = head.bytes + head.body_bytes;
        let Pair { input, output } = &mut self.buffers;
        // The head is as long as the length of the body has digits, so it is written last, into room left before the body.
        output.clear();
        output.resize(ROOM_FOR_HEAD, 0);
        if let Err(refusal) = handle(&input[head.bytes..end], output) {
            return Some(refuse(output, refusal));
        }
        self.head = None;
        input.copy_within(end..self.filled, 0);
        self.filled -= end;
        let start = put_head(output);
        Some(Answer { bytes: &output[start..], served: true, last: head.last })
    }

    fn head(&mut self) -> Result<Option<Head>, Refusal> {
        if self.head.is_none() {
            self.head = parse(&self.buffers.input[..self.filled])?;
            if self.head.is_none() && self.filled > LARGEST_HEAD {
                return Err(Refusal::Malformed);
            }
        }
        Ok(self.head)
    }
}

fn refuse(output: &mut Vec<u8>, refusal: Refusal) -> Answer<'_> {
    let (status, reason) = refusal.status();
    *output = format!("HTTP/1.1 {status} {reason}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").into_bytes();
    Answer { bytes: output, served: false, last: true }
}

fn parse(input: &[u8]) -> Result<Option<Head>, Refusal> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let Ok(parsed) = request.parse(input) else { return Err(Refusal::Malformed) };
    let httparse::Status::Complete(bytes) = parsed else { return Ok(None) };
    let (mut length, mut last) = (None, request.version == Some(0));
    for header in request.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            length = Some(header.value);
        } else if header.name.eq_ignore_ascii_case("connection") {
            last |= header.value.eq_ignore_ascii_case(b"close");
        }
    }
    Ok(Some(Head { bytes, body_bytes: body_length(length)?, last }))
}

const ROOM_FOR_HEAD: usize = 96;

/// Writes the head of an answer before its body, and says where it begins.
fn put_head(output: &mut [u8]) -> usize {
    let (room, body) = output.split_at_mut(ROOM_FOR_HEAD);
    let mut head = [0; ROOM_FOR_HEAD];
    let mut left = &mut head[..];
    write!(left, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len())
        .expect("it is shorter than its room, whatever the length");
    let bytes = ROOM_FOR_HEAD - left.len();
    room[ROOM_FOR_HEAD - bytes..].copy_from_slice(&head[..bytes]);
    ROOM_FOR_HEAD - bytes
}

/// A request as the load generator sends it.
pub fn request(json: &[u8]) -> Vec<u8> {
    let length = json.len();
    let head = format!(
        "POST /orders HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), json].concat()
}

/// How a request is answered, in bytes.
pub fn answer_to(json: &[u8]) -> Vec<u8> {
    let stock = Stock::default();
    stock.lend(&request(json)).answer().expect("a request of ours is whole").bytes.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives an exchange these bytes, so many at a time, and collects the answers.
    fn answers(bytes: &[u8], at_a_time: usize) -> Vec<(String, bool)> {
        let stock = Stock::default();
        let (mut exchange, mut all) = (stock.lend(&[]), Vec::new());
        for part in bytes.chunks(at_a_time) {
            let room = exchange.room();
            let part = &part[..part.len().min(room.len())];
            room[..part.len()].copy_from_slice(part);
            exchange.came(part.len());
            while let Some(answer) = exchange.answer() {
                all.push((String::from_utf8(answer.bytes.to_vec()).unwrap(), answer.last));
                if answer.last {
                    return all;
                }
            }
        }
        all
    }

    #[test]
    fn requests_are_answered_however_they_come() {
        let json = Order::of_bytes(1, 500).to_json();
        let two = request(&json).repeat(2);
        let mut order = Order::from_json(&json).unwrap();
        order.add_up();
        for at_a_time in [1, 7, 1000, two.len()] {
            let answers = answers(&two, at_a_time);
            assert_eq!(answers.len(), 2, "{at_a_time} at a time");
            for (answer, last) in answers {
                let (head, body) = answer.split_once("\r\n\r\n").unwrap();
                assert_eq!(Order::from_json(body.as_bytes()).unwrap(), order);
                assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && !last);
                assert!(head.contains(&format!("content-length: {}", body.len())));
            }
        }
    }

    #[test]
    fn what_cannot_be_answered_is_refused() {
        for (request, status) in [
            ("\0\0\0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}", 400),
            ("POST / HTTP/1.1\r\n\r\n", 411),
            ("POST / HTTP/1.1\r\ncontent-length: 99999999\r\n\r\n", 413),
        ] {
            let answers = answers(request.as_bytes(), usize::MAX);
            let [(answer, true)] = &answers[..] else { panic!("{request:?}: {answers:?}") };
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:?}: {answer}");
        }
        assert_eq!(answers(&[b'a'; 20_000], 1000).len(), 1, "a head without an end");
    }

    #[test]
    fn what_is_given_back_last_is_lent_first_and_only_what_is_own_is_kept_apart() {
        let all = Stock::default();
        let (lent, own) = (Buffers::Lent.stock(&all), Buffers::Own.stock(&all));
        let (mut first, second) = (lent.lend(b"1"), all.lend(b"2"));
        first.room().fill(b'x');
        drop((second, first));
        assert!(all.lend(b"").room().ends_with(b"x"), "the first was given back last");
        assert_eq!(all.pairs().len(), 2);
        assert!(own.lend(b"").room().ends_with(b"\0"), "nobody has used these");
    }

    #[test]
    fn an_exchange_is_empty_once_everything_is_answered() {
        let (stock, request) = (Stock::default(), request(&Order::of_bytes(1, 500).to_json()));
        let mut exchange = stock.lend(&request.repeat(2));
        for left in [false, true] {
            assert!(!exchange.is_empty() && exchange.answer().unwrap().served);
            assert_eq!(exchange.is_empty(), left);
        }
    }

    #[test]
    fn a_client_may_ask_for_the_connection_to_be_closed() {
        let json = Order::of_bytes(1, 500).to_json();
        let text = String::from_utf8(request(&json)).unwrap();
        let closing = text.replace("host: localhost", "Connection: Close");
        assert!(answers(closing.as_bytes(), usize::MAX)[0].1);
    }
}
