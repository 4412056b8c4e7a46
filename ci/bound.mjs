// Bounds that were promised, as tests hold them. A time fails beyond `slack` times its bound, since other machines are slower.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from './site.mjs';

/** Says a figure beside its bound. */
export function bound(what, value, most, unit, { slack = 1 } = {}) {
  console.log(`${what}: ${Number(value.toFixed(2))} ${unit}, to be at most ${most}`);
  assert.ok(value <= most * slack, `${what}: ${value} ${unit} are more than ${slack} times ${most}`);
}

/**
 * Runs a command in a shell, in an environment that leads to no other target: its output, its
 * seconds, and those of CPU time that all it started took.
 */
export function timed(cwd, command, more = {}) {
  const { CARGO_TARGET_DIR, ...own } = process.env;
  const env = { ...own, ...more };
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync('bash', ['-c', `${command} 2>&1 && times`], { cwd, env, encoding: 'utf8', maxBuffer: 2 ** 26 });
  assert.equal(status, 0, stdout + stderr);
  const cpu = stdout.trim().split('\n').at(-1).match(/(\d+)m([\d.]+)s/g).map((time) => {
    const [, minutes, seconds] = time.match(/(\d+)m([\d.]+)s/);
    return 60 * minutes + Number(seconds);
  });
  return { output: stdout, seconds: (performance.now() - started) / 1000, cpu: cpu[0] + cpu[1] };
}

/**
 * A folder in memory, where there is room for a site. mdBook removes a site's 700 files and makes
 * new ones. ext4 without a journal takes no inode that was just free, and looks for others for
 * 0.7 s; with a journal it takes as long as memory does.
 */
function folderForSites() {
  const room = existsSync('/dev/shm') ? statfsSync('/dev/shm') : { bavail: 0, bsize: 0 };
  return mkdtempSync(join(room.bavail * room.bsize > 2 ** 28 ? '/dev/shm' : tmpdir(), 'site-'));
}

/** The shortest of three builds, in seconds: what else the machine did is in none of them, or in all. */
export function secondsOfBuild(checkout, settings) {
  const folder = folderForSites();
  const once = () => {
    const started = performance.now();
    const { status, output } = build(checkout, settings, { MDBOOK_BUILD__BUILD_DIR: join(folder, 'site') });
    assert.equal(status, 0, output);
    return (performance.now() - started) / 1000;
  };
  const seconds = Math.min(once(), once(), once());
  rmSync(folder, { recursive: true });
  return seconds;
}

/** How long `tally check` takes, and how much memory. */
export async function boundsOfCheck(what, checkout, { seconds, mebibytes }) {
  const started = performance.now();
  // The executable itself: cargo's memory is not tally's.
  const check = spawn(join(checkout, 'target/debug/tally'), ['check'], { cwd: checkout, stdio: ['ignore', 'ignore', 'inherit'] });
  let peak = 0;
  const look = setInterval(() => {
    const path = `/proc/${check.pid}/status`;
    if (existsSync(path)) peak = Math.max(peak, Number(readFileSync(path, 'utf8').match(/VmHWM:\s+(\d+)/)?.[1] ?? 0));
  }, 20);
  const code = await new Promise((ended) => check.on('close', ended));
  clearInterval(look);
  assert.equal(code, 0);
  bound(what, (performance.now() - started) / 1000, seconds, 's', { slack: 2 });
  bound(`memory of ${what}`, peak / 1024, mebibytes, 'MiB', { slack: 2 });
}
