// Many machines without a cluster: what starts on each of them is run as it stands, with a tally that only pretends to measure.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const text = (file) => readFileSync(join(root, file), 'utf8');

/** A folder that is gone after the test. */
function scratch(t, parent = tmpdir()) {
  const folder = mkdtempSync(join(parent, 'fleet-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function executable(path, lines) {
  writeFileSync(path, `#!/bin/sh\n${lines}`);
  chmodSync(path, 0o755);
}

/** An unpacked archive whose tally notes down that it was called, and has a session at its end; it fails where there is a file `data/broken`. */
function unpackedArchive(folder) {
  const there = join(folder, 'what-async-costs-x86_64');
  for (const part of ['.cargo', 'benches-src', 'data', 'programs']) mkdirSync(join(there, part), { recursive: true });
  for (const part of ['.revision', 'book.toml', 'rust-toolchain.toml']) writeFileSync(join(there, part), '');
  for (const script of ['element', 'measure', 'slurm']) cpSync(join(root, 'ci', script), join(there, script));
  executable(join(there, 'tally'), `[ ! -e data/broken ] || { echo "tally: out of order" >&2; exit 3; }
echo "tally: $*" >&2
case $1 in
    measure) echo "$*" >>data/asked ;;
    export) mkdir -p "data/machines/$2/sessions" && cp data/asked "data/machines/$2/sessions/2026-11-26.bundle.zst" ;;
esac
`);
  return there;
}

const ASKED = 'measure --effort full --programs programs\n';

/** How each of them starts its element 3 in the folder of the archive: a command, and what the environment says. */
const STARTED_BY = {
  hand: [['./element', 'amd-epyc-4cpu', '3'], {}],
  'hand, with its work on another file system,': [['./element', 'amd-epyc-4cpu', '3'], {}],
  Slurm: [['sh', 'slurm', 'amd-epyc-4cpu'], { SLURM_SUBMIT_DIR: '.', SLURM_ARRAY_TASK_ID: '3' }],
};

for (const [who, [[command, ...words], env]] of Object.entries(STARTED_BY)) {
  test(`an element that is started by ${who} leaves its last words or its session, and goes on where it was`, (t) => {
    const there = unpackedArchive(scratch(t));
    // No link leads to another file system. In the memory of this machine, where it has such a file system.
    if (who.includes('another file system') && existsSync('/dev/shm')) symlinkSync(scratch(t, '/dev/shm'), join(there, 'work'));
    const start = () => {
      const { status, stdout, stderr } = spawnSync(command, words, { cwd: there, env: { PATH: '/usr/bin:/bin', ...env }, encoding: 'utf8' });
      return { status, said: stdout + stderr };
    };
    const sessions = () => readdirSync(join(there, 'sessions'));
    const session = 'amd-epyc-4cpu-3_2026-11-26.bundle.zst';

    writeFileSync(join(there, 'data/broken'), '');
    const failed = start();
    assert.equal(failed.status, 3, failed.said);
    assert.deepEqual(sessions(), ['amd-epyc-4cpu-3.failed']);
    assert.match(readFileSync(join(there, 'sessions/amd-epyc-4cpu-3.failed'), 'utf8'), /^exit status 3\n[^]*out of order/);

    writeFileSync(join(there, 'work/amd-epyc-4cpu-3/data/asked'), 'what was measured before\n');
    rmSync(join(there, 'work/amd-epyc-4cpu-3/data/broken'));
    const went = start();
    assert.equal(went.status, 0, went.said);
    assert.deepEqual(sessions(), [session]);
    assert.equal(readFileSync(join(there, 'sessions', session), 'utf8'), `what was measured before\n${ASKED}`);
    assert.deepEqual(readdirSync(join(there, 'work')), [], 'nothing but the session is left');

    const again = start();
    assert.equal(again.status, 0, again.said);
    assert.match(again.said, /amd-epyc-4cpu-3 is done/);
  });
}

test('what one node began another begins anew', (t) => {
  const there = unpackedArchive(scratch(t));
  const start = () => spawnSync('./element', ['amd-epyc-4cpu', '3'], { cwd: there, env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8' });
  writeFileSync(join(there, 'data/broken'), '');
  assert.equal(start().status, 3);
  const work = join(there, 'work/amd-epyc-4cpu-3');
  writeFileSync(join(work, 'data/asked'), 'what was measured there\n');
  writeFileSync(join(work, 'node'), 'another-node\n');
  rmSync(join(there, 'data/broken'));
  const { status, stderr } = start();
  assert.equal(status, 0, stderr);
  assert.equal(readFileSync(join(there, 'sessions/amd-epyc-4cpu-3_2026-11-26.bundle.zst'), 'utf8'), ASKED);
});

test('an element without a name or an index says how it is used', (t) => {
  const there = unpackedArchive(scratch(t));
  const { status, stderr } = spawnSync('./element', ['amd-epyc-4cpu'], { cwd: there, encoding: 'utf8' });
  assert.equal(status, 2);
  assert.match(stderr, /\.\/element NAME INDEX/);
});

test('a handful of hosts by ssh: the lines of CONTRIBUTING.md bring home a session of each', (t) => {
  const folder = scratch(t);
  unpackedArchive(folder);
  execFileSync('tar', ['-czf', 'what-async-costs-x86_64.tar.gz', 'what-async-costs-x86_64'], { cwd: folder });
  rmSync(join(folder, 'what-async-costs-x86_64'), { recursive: true });
  writeFileSync(join(folder, 'hosts'), 'one\ntwo\n');
  // A host is a folder here, and what is behind a colon lies in it.
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  executable(join(bin, 'ssh'), 'mkdir -p "host-$1" && cd "host-$1" && shift && exec sh -c "$*"\n');
  executable(join(bin, 'scp'), `at() { case $1 in *:*) mkdir -p "host-\${1%%:*}"; echo "host-\${1%%:*}/\${1#*:}" ;; *) echo "$1" ;; esac; }
[ "$1" = -q ] && exec cp $(at "$2") "$(at "$3")"
`);
  const [, lines] = text('CONTRIBUTING.md').match(/```sh\n([^`]*for host in[^`]*)```/);
  const { status, stderr } = spawnSync('sh', ['-c', lines], { cwd: folder, env: { PATH: `${bin}:/usr/bin:/bin` }, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const sessions = readdirSync(folder).filter((name) => name.endsWith('.bundle.zst')).sort();
  assert.deepEqual(sessions, ['my-kind-1_2026-11-26.bundle.zst', 'my-kind-2_2026-11-26.bundle.zst'], stderr);
  for (const session of sessions) assert.equal(readFileSync(join(folder, session), 'utf8'), ASKED);
});
