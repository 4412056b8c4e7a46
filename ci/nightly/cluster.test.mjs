// A cluster by Slurm: a controller and four nodes, all on this machine. An array measures, and its sessions are imported.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cannotPack, copyOfCheckout, unpackedBundle } from '../site.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const NODES = 4;

const said = (command, words, options = {}) => spawnSync(command, words, { encoding: 'utf8', ...options });

/** Why there can be no cluster here; nothing if there can be. */
function lacking() {
  if (process.getuid() !== 0) return 'only root starts the daemons of a cluster';
  if (cannotPack()) return cannotPack();
  for (const [part, command] of [['munge', 'munged'], ['slurm-wlm', 'sbatch']]) {
    const needed = said(join(root, 'ci/need'), [part, command]);
    if (needed.status !== 0) return needed.stderr.trim();
  }
  return undefined;
}

/** Starts the daemons, with all that they write in one folder; what ends them. */
async function cluster(folder) {
  const daemons = [];
  const start = (command, ...words) => daemons.push(spawn(command, words, { stdio: 'ignore' }));
  const socket = join(folder, 'munge.socket');
  writeFileSync(join(folder, 'munge.key'), Buffer.alloc(128, 7), { mode: 0o600 });
  const files = ['key', 'socket', 'log', 'pid', 'seed'].map((name) => `--${name}-file=${join(folder, `munge.${name}`)}`);
  start('munged', '--foreground', '--force', ...files.filter((flag) => !flag.startsWith('--socket')), `--socket=${socket}`);
  const conf = join(folder, 'slurm.conf');
  mkdirSync(join(folder, 'state'));
  writeFileSync(conf, `ClusterName=test
SlurmctldHost=${hostname()}(127.0.0.1)
SlurmUser=root
SlurmctldPort=27817
AuthType=auth/munge
AuthInfo=socket=${socket}
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool-%n
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd-%n.pid
SlurmctldLogFile=${folder}/slurmctld.log
SlurmdLogFile=${folder}/slurmd-%n.log
MpiDefault=none
NodeName=n[1-${NODES}] NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=[27821-${27820 + NODES}] CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`);
  for (let tries = 0; !existsSync(socket) && tries < 50; tries += 1) await sleep(100);
  start('slurmctld', '-D', '-f', conf);
  for (let node = 1; node <= NODES; node += 1) start('slurmd', '-D', '-f', conf, '-N', `n${node}`);
  const env = { ...process.env, SLURM_CONF: conf };
  const idle = () => said('sinfo', ['-h', '-t', 'idle', '-o', '%D'], { env }).stdout.trim();
  for (let tries = 0; idle() !== `${NODES}` && tries < 100; tries += 1) await sleep(200);
  assert.equal(idle(), `${NODES}`, `${said('sinfo', [], { env }).stdout}${readFileSync(join(folder, 'slurmctld.log'), 'utf8').slice(-3000)}`);
  return { env, end: () => daemons.reverse().forEach((daemon) => daemon.kill('SIGKILL')) };
}

const reason = lacking();

test('an array of a cluster measures, and its sessions are imported', { skip: reason ?? false, timeout: 180_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const there = unpackedBundle(folder);
  mkdirSync(join(there, 'logs'));
  const { env, end } = await cluster(folder);
  t.after(end);
  const submit = (...words) => said('sbatch', ['--wait', `--array=1-${NODES}`, 'slurm', ...words], { cwd: there, env });
  const sessions = () => readdirSync(join(there, 'sessions')).sort();

  // Nobody can measure what is not there: each element says why.
  assert.notEqual(submit('a-kind', 'quick', 'no-such-experiment').status, 0);
  assert.deepEqual(sessions(), ['a-kind-1.failed', 'a-kind-2.failed', 'a-kind-3.failed', 'a-kind-4.failed']);
  assert.match(readFileSync(join(there, 'sessions/a-kind-1.failed'), 'utf8'), /exit status 1\n[\s\S]*no-such-experiment/);

  // The same elements, and now they can. A second time there is nothing left to do.
  for (const nth of [1, 2]) {
    const { status, stderr } = submit('a-kind', 'quick', 'ceilings');
    assert.equal(status, 0, `${nth}: ${stderr}`);
    assert.equal(sessions().length, NODES, sessions().join(' '));
    assert.ok(sessions().every((name) => /^a-kind-[1-4]_\d{4}-\d\d-\d\d\.bundle\.zst$/.test(name)), sessions().join(' '));
  }
  assert.match(readFileSync(join(there, 'logs/1.txt'), 'utf8'), /a-kind-1 is done/);
  assert.deepEqual(readdirSync(join(there, 'work')), [], 'nothing but sessions is left');

  const home = copyOfCheckout();
  const files = sessions().map((name) => join(there, 'sessions', name));
  const imported = said('cargo', ['tally', 'import', ...files], { cwd: home });
  assert.equal(imported.status, 0, imported.stderr);
  assert.equal(imported.stderr.match(/1 records are in data\/machines\/a-kind-[1-4]\//g).length, NODES);
});
