// The sentences that tally fills in read as plainly as was reached, and the gate that says so fails where one does not.

import assert from 'node:assert/strict';
import test from 'node:test';
import { findings, PHRASES, phrases, ratiosWithoutNoun, sayings, values } from './findings.mjs';
import { wrongInFindings } from './prose.mjs';

test('no finding, claim or caption is above a ceiling', () => {
  const groups = findings();
  assert.ok(groups.flatMap(({ texts }) => texts).length > 1000, 'they are found');
  assert.deepEqual(wrongInFindings(groups), []);
});

test('a finding has a sentence for each of its outcomes', () => {
  const toml = '[[takeaway]]\nid = "a"\nratio = "r"\nsay = "It costs {r}× as much."\n\n[[takeaway]]\nwhen = [["a > 1"]]\nsay = "It [rises|falls]."\n';
  const ratio = ['It costs {r}× as much.', 'It costs only {r}× as much.', 'It costs {r}× as much, not clearly different.'];
  assert.deepEqual(sayings(toml), [...ratio, 'It rises.', 'It falls.']);
  assert.deepEqual(sayings('[[takeaway]]\nsay = "It costs {r}× as much."\n'), [ratio[0]]);
});

test('a phrase that may not occur is found with its place', () => {
  const said = {
    'a ratio without a noun': 'The median moves as well: {a}×.',
    '"no sure"': 'It costs {a} and {b}: no sure difference.',
    '"not sure", "not surely"': 'It costs {a}× as much, not both surely more.',
    '"cannot be told"': 'Whether it grows cannot be told here.',
    '"not excluded"': 'A tenth less is not excluded.',
    '"told from", "told apart"': 'The two cannot, we think, be told apart.',
    'a metaphor': 'Most of it you pay at the door.',
    '"such"': 'A pool answers {a} such requests a second.',
    '"so many"': 'With so many each, mappings end.',
    '"nobody", "whoever"': 'If nobody else wants it, a mutex costs {a}.',
    'another name than hand-over, unpinned, overhead': "A thread's hop costs {a}.",
  };
  assert.deepEqual(Object.keys(said), PHRASES.map(({ name }) => name));
  const before = findings();
  for (const [index, { name, most }] of PHRASES.entries()) {
    const alone = phrases([said[name]]);
    assert.equal(alone[index], 1, name);
    const planted = Array(most + 1).fill(said[name]);
    const wrong = wrongInFindings([...before, { file: 'planted.toml', kind: 'findings', texts: planted }]);
    assert.ok(wrong.some((line) => line.startsWith(`${name}: `) && line.includes('planted.toml')), name);
  }
});

test('a finding has the ceilings of pages where it has none of its own', () => {
  const texts = Array(30).fill('Somebody who asks somebody whose thread waits costs {a}.');
  assert.match(wrongInFindings([{ file: 'planted.toml', kind: 'findings', texts }]).join('\n'), /planted\.toml: who, whose, somebody, nobody/);
});

test('a ratio says times of what, and the next one in its sentence need not say it again', () => {
  for (const sentence of [
    "It costs {a}× a task's CPU time with 10, {b}× with 100.",
    'It costs {a}, {b}× the {c} of a task.',
    "It reaches {a}× tokio's rate.",
    'A request takes {a} times as long.',
    'It blocks {a} times on average. It costs {b}× as much.',
  ]) {
    assert.equal(ratiosWithoutNoun(sentence), 0, sentence);
  }
  for (const sentence of [
    'It is faster: {a}×.',
    'It costs {a}× with 10 connections.',
    'They cost {a}× as much as tasks, and less with 10: {b}×.',
    'They save time, at {a}×.',
    'It takes {a} times.',
    'It costs {a}× as much. With 10 it is {b}×.',
  ]) {
    assert.equal(ratiosWithoutNoun(sentence), 1, sentence);
  }
});

test('words of quantities are no words of a finding, and every form of a string is read', () => {
  assert.deepEqual(phrases(['A hand-over costs {hop-ratio[hops=2]}.']).filter(Boolean), []);
  const toml = 'say = "a"\ncase = [{ when = ["x > 1"], say = "b" }]\nsay = """c \\\n    d"""\nsay = \'"e"\'\nother = "f"\n';
  assert.deepEqual(values(toml, ['say']), ['a', 'b', 'c d', '"e"']);
});
