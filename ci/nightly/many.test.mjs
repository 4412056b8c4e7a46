// Bounds among a hundred machines: copies of those that there are.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { bound, secondsOfBuild } from '../bound.mjs';
import { build, copyOfCheckout } from '../site.mjs';

const checkout = copyOfCheckout();
const reference = { effort: 'never', show: 'reference' };
const site = join(checkout, 'site');

test('a hundred machines: their check, a warm build, and the pages that show them', () => {
  const machines = join(checkout, 'data/machines');
  const known = readdirSync(machines).filter((name) => name !== 'reference');
  const added = Array.from({ length: 100 - known.length }, (_, index) => `copy-${index}`);
  added.forEach((name, index) => {
    const from = join(machines, known[index % known.length]);
    for (const file of ['machine.toml', ...readdirSync(join(from, 'sessions')).map((file) => join('sessions', file))]) {
      mkdirSync(join(machines, name, file, '..'), { recursive: true });
      linkSync(join(from, file), join(machines, name, file));
    }
  });
  const { status, output } = build(checkout, reference);
  assert.equal(status, 0, output);
  bound('a warm build among 100 machines', secondsOfBuild(checkout, reference), 3, 's', { slack: 2 });
  const started = performance.now();
  const check = spawnSync(join(checkout, 'target/debug/tally'), ['check'], { cwd: checkout, encoding: 'utf8' });
  assert.equal(check.status, 0, check.stderr);
  bound('tally check of 100 machines', (performance.now() - started) / 1000, 10, 's', { slack: 2 });
  const page = (name) => readFileSync(join(site, name), 'utf8');
  const shown = page('machines.html');
  bound('the page of 100 machines', gzipSync(shown).length / 1024, 300, 'KB compressed');
  assert.match(shown, /All 100 machines at a glance/);
  assert.match(page('index.html'), /; lower on \d+ of \d\d</, 'where among all machines this one lies');
  assert.equal(shown.match(/<section class="machine"/g).length, 100);
  assert.equal(shown.match(/<details class="more"><summary>copy-/g).length, added.length, 'each is folded');
  const claims = page('claims.html');
  assert.match(claims, /holds on \d+[^<]* of \d+</);
  assert.doesNotMatch(claims, /<th scope="col"><a href="machines\.html#machine-copy-/, 'a column for each machine');
  for (const name of added) rmSync(join(machines, name), { recursive: true });
});
