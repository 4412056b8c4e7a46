//! An answer as hyper sends it: in pieces, as the socket takes them. What calls it is compiled as if it stood in the program.

use std::cell::Cell;
use std::mem::take;

use bytes::Buf;

/// An answer, whose memory is the next one's when hyper has sent it. If each were allocated, glibc would put all small free pieces together
/// for it, and cut the strings of the next order off anew.
#[derive(Default)]
pub struct Answer {
    json: Vec<u8>,
    sent: usize,
}

thread_local! {
    /// What the last answer of this thread has left.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl Answer {
    /// Nothing yet, in memory that an answer before it may have left.
    #[inline]
    pub fn empty() -> Self {
        let mut answer = Self { json: SPARE.take(), sent: 0 };
        answer.json.clear();
        answer
    }

    /// What it is written into.
    #[inline]
    pub fn json(&mut self) -> &mut Vec<u8> {
        &mut self.json
    }
}

impl Buf for Answer {
    #[inline]
    fn remaining(&self) -> usize {
        self.json.len() - self.sent
    }

    #[inline]
    fn chunk(&self) -> &[u8] {
        &self.json[self.sent..]
    }

    #[inline]
    fn advance(&mut self, bytes: usize) {
        assert!(bytes <= self.remaining(), "no more is sent than there is");
        self.sent += bytes;
    }
}

impl Drop for Answer {
    #[inline]
    fn drop(&mut self) {
        SPARE.set(take(&mut self.json));
    }
}
