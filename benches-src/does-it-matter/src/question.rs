//! What the service `upstream` is asked, and what it answers.

/// Bytes of a question, as a short query has them.
pub const QUESTION: usize = 64;

/// Bytes of an answer, as a row of a table has them.
pub const ANSWER: usize = 512;

/// A question begins with its number, and so does its answer.
#[inline]
pub fn question(number: u64) -> [u8; QUESTION] {
    let mut question = [b'?'; QUESTION];
    question[..8].copy_from_slice(&number.to_le_bytes());
    question
}

/// The answer to a question.
#[inline]
pub fn answer(question: &[u8; QUESTION]) -> [u8; ANSWER] {
    let mut answer = [b'!'; ANSWER];
    answer[..8].copy_from_slice(&question[..8]);
    answer
}
