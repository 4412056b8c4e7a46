// The commands that the book and the README show, and how a test runs them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pages } from './site.mjs';

// These are run by the tests as a whole, or measure for longer than a test should, or push the machine to its limits.
const COVERED = [/^cargo install/, /^ci\/test\b/, /mdbook build/, /--effort full$/, /tally export/, /--push-limits$/];

/** Every command that a test can run, from the pages of a built site and the README. */
export function commands(checkout, site) {
  const found = new Set();
  const text = (html) => html.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(code));
  for (const name of pages(site)) {
    const html = readFileSync(join(site, name), 'utf8');
    for (const [, command] of html.matchAll(/<code class="command">(.*?)<\/code>/g)) found.add(text(command));
  }
  const sources = [...pages(site).map((name) => join('book/src', name.replace('.html', '.md'))), 'README.md'];
  for (const source of sources) {
    const blocks = readFileSync(join(checkout, source), 'utf8').matchAll(/```sh\n(.*?)```/gs);
    for (const [, block] of blocks) {
      const isScript = /^while /m.test(block);
      for (const command of isScript ? [block] : block.trim().split('\n')) found.add(command.replace(/ +#.*/, ''));
    }
  }
  // What changes the machine stands in blocks of another kind, and is never run here.
  for (const command of found) assert.doesNotMatch(command, /^(sudo|sysctl|prlimit|systemctl|mount)\b/, command);
  return [...found].filter((command) => !COVERED.some((pattern) => pattern.test(command)));
}

/**
 * What measures in full and nothing else: that it does so with real tools is seen from its
 * beginning.
 */
const isInFull = (command) => command === 'cargo tally confirm' || command.includes('--effort full');

/**
 * The same command, for as long as a test should. A program's own sampling takes seconds: that it takes these flags and does its work is seen from doing it
 * once. Ten thousand clients are a load that a busy machine does not answer in time, and a hundred take the same flags.
 */
function briefly(command) {
  const few = (command) => command.replace(/--connections \d{4,}/, '--connections 100');
  const once = (command) => (command.includes(' -- ') ? `${few(command)} --once` : `${command} -- --once`);
  if (isInFull(command)) return `timeout --signal INT 20 ${command}`;
  if (/tally measure [a-z-]+ --again$/.test(command)) return `${command} --effort test`;
  return /cargo program/.test(command) && !/--(histogram|iters)/.test(command) ? once(command) : command;
}

/** Runs them, and fails with the first that fails. */
export async function run(checkout, all) {
  const runs = async (command) => {
    const shell = promisify(execFile)('sh', ['-c', briefly(command)], { cwd: checkout, maxBuffer: 2 ** 26 });
    const { code, stderr } = await shell.catch((error) => error);
    if (isInFull(command)) assert.match(stderr, /interrupted; what was measured so far is kept/);
    else assert.equal(code ?? 0, 0, `${command}\n${stderr}`);
  };
  // What measures, or starts a tool that does, wants the machine for itself.
  const isAlone = (command) => /tally (measure|confirm)|program tool-/.test(command);
  const sideBySide = all.filter((command) => !isAlone(command));
  const worker = async () => {
    for (let command = sideBySide.pop(); command; command = sideBySide.pop()) await runs(command);
  };
  await Promise.all([worker(), worker()]);
  for (const command of all.filter(isAlone)) await runs(command);
}
