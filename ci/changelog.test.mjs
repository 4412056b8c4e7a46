// The newest edition's numbers in the changelog are what its command prints today: an edition
// that is not out yet moves with each session that is added.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const root = new URL('..', import.meta.url);
const [, newest] = readFileSync(new URL('CHANGELOG.md', root), 'utf8').split(/^## /m);

test('the numbers of the newest edition are what its command prints', () => {
  // Below the head, whose cells hold editions, each cell has an interval.
  const rows = newest.split('\n').filter((line) => /^\| [a-z][\w-]+ \| .*\[/.test(line));
  assert.ok(rows.length > 10, 'there is a table of numbers');
  for (const row of rows) {
    const [, name, , now] = row.split('|').map((cell) => cell.trim());
    const printed = execFileSync('target/debug/tally', ['value', name, '--machine', 'reference'], { cwd: root, encoding: 'utf8' });
    assert.equal(now, printed.trim(), name);
  }
});
