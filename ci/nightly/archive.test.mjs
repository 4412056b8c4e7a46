// A machine without Rust: what is packed here measures there, goes on where it was stopped, and comes home as one file.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { cannotPack, copyOfCheckout, unpackedBundle } from '../site.mjs';

test('an archive measures on a bare machine, and its session is imported', { skip: cannotPack() }, (t) => {
  const there = mkdtempSync(join(tmpdir(), 'bare-'));
  t.after(() => rmSync(there, { recursive: true, force: true }));
  const folder = unpackedBundle(there);
  // Neither cargo nor node nor git is found along this path by what it starts: no home has any settings either.
  const env = { PATH: '/usr/bin:/bin', HOME: there };
  const measure = (...words) => spawnSync('./measure', words, { cwd: folder, env, encoding: 'utf8' });
  const without = measure();
  assert.equal(without.status, 2);
  assert.match(without.stderr, /\.\/measure NAME/);
  const first = measure('bare-machine', 'quick', 'channel', 'hold');
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stderr, /measuring switch-cost\/channel/);
  const again = measure('bare-machine', 'quick', 'channel', 'hold');
  assert.equal(again.status, 0, again.stderr);
  assert.match(again.stderr, /nothing to measure/);
  const sessions = readdirSync(folder).filter((name) => name.startsWith('bare-machine_') && name.endsWith('.bundle.zst'));
  assert.equal(sessions.length, 1);

  const home = copyOfCheckout();
  const tally = (...words) => spawnSync('cargo', ['tally', ...words], { cwd: home, encoding: 'utf8' });
  const start = Date.now();
  const imported = tally('import', join(folder, sessions[0]));
  assert.equal(imported.status, 0, imported.stderr);
  assert.match(imported.stderr, /2 records are in data\/machines\/bare-machine/);
  assert.match(imported.stderr, /lacks what a full session has/);
  assert.ok(existsSync(join(home, 'data/machines/bare-machine/machine.toml')));
  const shown = tally('value', 'channel-hop-ratio', '--machine', 'bare-machine');
  assert.match(shown.stdout, /^\d/, shown.stderr);
  assert.doesNotMatch(shown.stdout, /stale|older/, 'it was measured by the listings that lie here');
  assert.ok(Date.now() - start < 60_000, `${Date.now() - start} ms to import and show a session`);
});
