// The page of open questions judges by the reference machine. Its first sentence counts its judgements, and no question is called answered beneath a
// sentence by which the data say that they decide nothing.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const root = new URL('..', import.meta.url);
const page = readFileSync(new URL('book/src/open-questions.md', root), 'utf8');

/** Each question with its judgement and the findings below it. */
const questions = page.split(/^### /m).slice(1).map((block) => {
  const [heading] = block.split('\n');
  return { heading, block, state: block.match(/^\*\*(.*?)\.?\*\*/m)?.[1], findings: [...block.matchAll(/<!-- cmdrun tally takeaway ([\w-]+) -->/g)].map(([, id]) => id) };
});

test('the first sentence counts the judgements', () => {
  const count = (state) => questions.filter((question) => question.state === state).length;
  const counted = [questions.length, count('Answered'), count('Partly answered'), count('Open')];
  const [, lead] = page.match(/<p class="lead">(.*?)<\/p>/);
  assert.deepEqual(lead.match(/\d+/g).map(Number), counted);
  assert.equal(counted[0], counted[1] + counted[2] + counted[3], 'each question has one of three judgements');
});

test('each question has words of its author, one finding, and a page with the evidence', () => {
  for (const { heading, block, findings } of questions) {
    assert.match(heading, /\?$/);
    assert.match(block, /"[^"]{20,}"/, `${heading}: nobody's words`);
    assert.equal(findings.length, 1, heading);
    assert.match(block, /^→ \[[^\]]+\]\([^)]+\.md/m, `${heading}: no page`);
  }
});

test('no question is answered, wholly or partly, by a sentence that decides nothing', () => {
  const decidesNothing = /\bwe cannot\b|not clearly different|not measured|unavailable/i;
  const ids = questions.flatMap(({ findings }) => findings);
  const said = execFileSync('target/debug/tally', ['takeaway', ...ids, '--machine', 'reference'], { cwd: root, encoding: 'utf8' }).split('\n');
  for (const { heading, state, findings: [id] } of questions) {
    const sentence = said.find((line) => line.startsWith(`${id}: `));
    assert.ok(sentence, id);
    // Of a question that is answered in part, some may be left open.
    const sentences = sentence.split(/(?<=\.) /);
    const open = sentences.filter((own) => decidesNothing.test(own));
    if (state === 'Answered') assert.deepEqual(open, [], `${heading} is called answered`);
    if (state === 'Partly answered') assert.ok(open.length < sentences.length, `${heading} is called partly answered: ${sentence}`);
  }
});
