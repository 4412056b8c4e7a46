// A machine without Rust: what is packed here measures there, goes on where it was stopped, and comes home as one file.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { cannotPack, copyOfCheckout, unpackedBundle } from './site.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

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

test('what a contribution would change is printed, and nothing of it is run', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'contribution-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const checkout = join(folder, 'checkout');
  const git = (...words) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-C', checkout, ...words], { encoding: 'utf8' });
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, checkout]);
  const contribute = (branch, change) => {
    git('checkout', '--quiet', '-B', branch, 'HEAD');
    change();
    git('add', '--all');
    git('commit', '--quiet', '--message', branch);
    git('checkout', '--quiet', '--detach', 'HEAD~1');
    // The tally that was built before: a contribution brings none.
    const env = { ...process.env, TALLY: join(root, 'target/debug/tally') };
    return spawnSync('ci/contribution', [branch], { cwd: checkout, env, encoding: 'utf8' });
  };
  const machine = join(checkout, 'data/machines/amd-epyc-zen4-2cpu-vm');
  const added = contribute('another-machine', () => {
    cpSync(machine, join(checkout, 'data/machines/another-machine'), { recursive: true });
    writeFileSync(join(checkout, 'ci/contribution'), '#!/bin/sh\ntouch /tmp/pwned-by-a-contribution\n');
  });
  assert.equal(added.status, 0, added.stdout + added.stderr);
  assert.match(added.stdout, /not looked at here:\n\n    ci\/contribution\n/);
  assert.match(added.stdout, /### Machines\n\n(    .*\n)*    another-machine/);
  assert.match(added.stdout, /### Verdicts that come or go\n\n    \+ +another-machine/);
  assert.ok(!existsSync('/tmp/pwned-by-a-contribution'));

  const machines = join(checkout, 'data/machines');
  const refused = {
    'a link': [/linked/, () => symlinkSync('/etc/passwd', join(machines, 'linked'))],
    'a machine less': [/amd-epyc-zen4-2cpu-vm\/machine\.toml/, () => rmSync(machine, { recursive: true })],
    'another reference': [/machines\/reference/, () => {
      rmSync(join(machines, 'reference'));
      writeFileSync(join(machines, 'reference'), 'amd-epyc-zen4-2cpu-vm');
    }],
    'a changed machine': [/machine\.toml/, () => writeFileSync(join(machine, 'machine.toml'), '[known]\n')],
    'a stray beside sessions': [/notes\.txt/, () => writeFileSync(join(machine, 'sessions/notes.txt'), 'hello')],
    'a program': [/2026-11-24-9\.bundle\.zst/, () => writeFileSync(join(machine, 'sessions/2026-11-24-9.bundle.zst'), 'x', { mode: 0o755 })],
    'a name that ends a fence': [/\n    .*~~~~/, () => writeFileSync(join(machines, '~~~~'), '# A heading')],
    'a name that a terminal obeys': [/\n    .*033/, () => writeFileSync(join(machines, '\u001b[2J'), 'x')],
  };
  for (const [what, [names, change]] of Object.entries(refused)) {
    const { status, stdout } = contribute(what.replaceAll(' ', '-'), change);
    assert.equal(status, 1, what);
    assert.match(stdout, /These are refused:\n\n    /, what);
    assert.match(stdout, names, what);
    assert.doesNotMatch(stdout, /\u001b|^~~~~|^# A/m, what);
  }

  const damaged = contribute('damage', () => {
    cpSync(machine, join(checkout, 'data/machines/damaged'), { recursive: true });
    writeFileSync(join(checkout, 'data/machines/damaged/sessions/2026-11-24.digest.zst'), 'half');
  });
  assert.equal(damaged.status, 1);
  assert.match(damaged.stdout, /### What is wrong\n\n(    .*\n)*    .*damaged/);
});
