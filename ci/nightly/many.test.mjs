// Bounds among a hundred machines: the largest session of each that there is, again and again, with
// other seeds, since no record may stand twice.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { bound, boundsOfCheck, secondsOfBuild, timed } from '../bound.mjs';
import { copyOfCheckout, environment } from '../site.mjs';

const checkout = copyOfCheckout();
const reference = { effort: 'never', show: 'reference' };
const site = join(checkout, 'site');

/** A bundle whose records were begun with other seeds. */
function withOtherSeeds(bundle, index) {
  const lines = execFileSync('zstd', ['-dc', bundle], { encoding: 'utf8', maxBuffer: 1 << 28 }).split('\n');
  const changed = lines.map((line) => {
    if (!line.startsWith('{"header":')) return line;
    const other = line.replace(/,"sum":"[0-9a-f]{8}"}$/, '').replace(/"seed":(\d+)/, (_, seed) => `"seed":${BigInt(seed) ^ BigInt(index + 1)}`);
    return `${other},"sum":"${createHash('sha256').update(other).digest('hex').slice(0, 8)}"}`;
  });
  return execFileSync('zstd', ['-1', '-c', '--no-check'], { input: changed.join('\n'), maxBuffer: 1 << 28 });
}

test('a hundred machines: their check, a warm build, and the pages that show them', async () => {
  const machines = join(checkout, 'data/machines');
  const known = readdirSync(machines).filter((name) => name !== 'reference');
  const added = Array.from({ length: 100 - known.length }, (_, index) => `copy-${index}`);
  added.forEach((name, index) => {
    const from = join(machines, known[index % known.length]);
    mkdirSync(join(machines, name, 'sessions'), { recursive: true });
    copyFileSync(join(from, 'machine.toml'), join(machines, name, 'machine.toml'));
    const sessions = readdirSync(join(from, 'sessions')).map((file) => join(from, 'sessions', file));
    const largest = sessions.reduce((one, other) => (statSync(one).size < statSync(other).size ? other : one));
    writeFileSync(join(machines, name, 'sessions', basename(largest)), withOtherSeeds(largest, index));
  });
  const printing = () => {
    rmSync(join(checkout, 'target/printed'), { recursive: true, force: true });
    return timed(checkout, 'mdbook build', environment(reference)).cpu;
  };
  rmSync(join(checkout, 'target/digests'), { recursive: true, force: true });
  bound('CPU time of a first build among 100 machines', printing(), 60, 's', { slack: 2 });
  bound('CPU time to print all pages among 100 machines', printing(), 60, 's', { slack: 2 });
  bound('a warm build among 100 machines', secondsOfBuild(checkout, reference), 3, 's', { slack: 2 });
  await boundsOfCheck('tally check of 100 machines', checkout, { seconds: 8, mebibytes: 200 });
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
