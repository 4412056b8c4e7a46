// What somebody contributes is looked at as data.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { summed } from './records.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const tally = join(root, 'target/debug/tally');

/** A machine with records of one chapter: those of another, each begun a second later. */
function addMachine(checkout, name, unpacked) {
  const run = (...words) => execFileSync(tally, words, { cwd: checkout, stdio: 'pipe' });
  run('unpack', 'amd-epyc-zen4-2cpu-vm', '--to', unpacked);
  for (const path of readdirSync(unpacked, { recursive: true }).filter((path) => /switch-cost.*\.jsonl$/.test(path))) {
    const [header, ...rest] = readFileSync(join(unpacked, path), 'utf8').split('\n');
    const later = header.replace(/("time":"[^"]*:)(\d\d)Z/, (_, before, seconds) => `${before}${`${(Number(seconds) + 1) % 60}`.padStart(2, '0')}Z`);
    const to = join(checkout, 'data/local', ...path.split('/').slice(1));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, [summed(later), ...rest].join('\n'));
  }
  run('export', name);
  rmSync(join(checkout, 'data/local'), { recursive: true });
}

test('what a contribution would change is printed, and nothing of it is run', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'contribution-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const checkout = join(folder, 'checkout');
  const git = (...words) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-C', checkout, ...words], { encoding: 'utf8' });
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, checkout]);
  // What is kept of bundles, which takes long to make anew.
  mkdirSync(join(checkout, 'target'));
  symlinkSync(join(root, 'target/digests'), join(checkout, 'target/digests'));
  const contribute = (branch, change) => {
    git('checkout', '--quiet', '-B', branch, 'HEAD');
    change();
    git('add', '--all');
    git('commit', '--quiet', '--message', branch);
    git('checkout', '--quiet', '--detach', 'HEAD~1');
    // The tally that was built before: a contribution brings none.
    const env = { ...process.env, TALLY: tally };
    return spawnSync('ci/contribution', [branch], { cwd: checkout, env, encoding: 'utf8' });
  };
  const machine = join(checkout, 'data/machines/amd-epyc-zen4-2cpu-vm');
  const added = contribute('another-machine', () => {
    addMachine(checkout, 'another-machine', join(folder, 'unpacked'));
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
    'a digest, as older tallies kept it beside its bundle': [/2026-11-24\.digest\.zst/, () => {
      writeFileSync(join(machine, 'sessions/2026-11-24.digest.zst'), 'forged');
    }],
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

  const copied = contribute('copy', () => cpSync(machine, join(checkout, 'data/machines/copied'), { recursive: true }));
  assert.equal(copied.status, 1);
  assert.doesNotMatch(copied.stdout, /### Verdicts/, 'what is wrong has none');
  assert.match(copied.stdout, /### What is wrong\n\n(    .*\n)*    .*machines\/copied\/sessions\/.*zst: .* stands in data\/machines\/amd-epyc-zen4-2cpu-vm\//);

  const damaged = contribute('damage', () => {
    cpSync(machine, join(checkout, 'data/machines/damaged'), { recursive: true });
    writeFileSync(join(checkout, 'data/machines/damaged/sessions/2026-11-24.bundle.zst'), 'half');
  });
  assert.equal(damaged.status, 1);
  assert.match(damaged.stdout, /### What is wrong\n\n(    .*\n)*    .*damaged/);
});
