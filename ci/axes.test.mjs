// Every axis of every figure has two numbers or more, however near to each other the numbers of a
// figure lie. Ranges are drawn at random; by `ci/test --nightly` each is looked at.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { summed } from './records.mjs';
import { EVERYTHING, copyOfCheckout, drawn } from './site.mjs';

const checkout = copyOfCheckout('axes');
const tally = (...words) => execFileSync('target/debug/tally', words, { cwd: checkout, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** The lines of the reference machine's record of an experiment. */
function recordOf(unpacked, experiment) {
  const path = readdirSync(unpacked, { recursive: true }).find((path) => path.endsWith(`/${experiment}.jsonl`));
  return { path: path.split('/').slice(1).join('/'), lines: readFileSync(join(unpacked, path), 'utf8').trimEnd().split('\n') };
}

/** Makes it a record of this checkout, in which an operation of each cell takes so many nanoseconds, from the least to the most. */
function spread({ path, lines }, least, most) {
  const { header } = JSON.parse(lines[0]);
  const changed = lines.map((line) => {
    const own = JSON.parse(line);
    delete own.sum;
    const samples = own.run?.observation?.samples;
    if (samples) {
      const ns = least + ((most - least) * own.run.cell) / (header.cells.length - 1);
      samples.operations = samples.operations.map(() => 100_000);
      samples.elapsed_ns = samples.operations.map(() => Math.round(100_000 * ns));
    }
    return `${summed(JSON.stringify(own))}\n`;
  });
  const to = join(checkout, 'data/local', path);
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, changed.join(''));
}

/** How many numbers each axis of a picture has, but for those that name rows. */
function numbersOnAxes(svg) {
  // What draws the lines of the grid is an axis of its own, without a place for labels.
  const axes = svg.split('role-axis"').slice(1).flatMap((axis) => axis.split('role-axis-label"').slice(1, 2)).map((labels) => labels.split('</g>')[0]);
  const numbers = axes.map((labels) => [...labels.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text));
  return numbers.filter((texts) => texts.length === 0 || texts.every((text) => /^[\d.,]*[kµm%]?$/.test(text)));
}

/** The reference machine's session of all experiments: the largest. */
function fullSession() {
  const sessions = join(checkout, 'data/machines/reference/sessions');
  const bytes = (name) => statSync(join(sessions, name)).size;
  const [largest] = readdirSync(sessions).sort((one, other) => bytes(other) - bytes(one));
  return largest.replace('.bundle.zst', '');
}

test('an axis has two numbers or more in narrow ranges of all decades', (t) => {
  const unpacked = mkdtempSync(join(tmpdir(), 'unpacked-'));
  t.after(() => rmSync(unpacked, { recursive: true }));
  tally('unpack', `reference/${fullSession()}`, '--to', unpacked);
  // What other machines show would be in the same figure.
  rmSync(join(checkout, 'data/machines'), { recursive: true });
  mkdirSync(join(checkout, 'data/machines'));
  // An axis reaches beyond these, as far as intervals do.
  const narrow = [1.2, 2.2, 3.3, 4.5, 5.5, 6.5, 7.2, 8.3, 8.9, 9.3].map((low) => [low, 1.01 * low]);
  const wide = [[7.6, 9.1], [3, 8], [1.5, 14], [5.5, 60], [2, 250]];
  const cases = [];
  for (const [experiment, shape, axes] of [['yields', 'dots', 1], ['chains', 'sweep', 2]]) {
    const record = recordOf(unpacked, experiment);
    for (const [decade, ranges] of [[0, narrow], [1, wide], [4, narrow]]) {
      for (const [low, high] of ranges) cases.push({ record, experiment, shape, axes, decade, low, high });
    }
  }
  for (const { record, experiment, shape, axes, decade, low, high } of EVERYTHING ? cases : drawn(cases, 12)) {
    spread(record, low * 10 ** decade, high * 10 ** decade);
    const numbers = numbersOnAxes(tally('chart', experiment, shape, '--machine', 'local', '--standalone'));
    const what = `${experiment} ${shape}, ${low} to ${high}, decade ${decade}: ${JSON.stringify(numbers)}`;
    assert.equal(numbers.length, axes, what);
    for (const own of numbers) assert.ok(new Set(own.filter(Boolean)).size > 1, what);
  }
});
