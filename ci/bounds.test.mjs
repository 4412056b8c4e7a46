// Bounds that were promised, printed as they are today: how long a rebuild takes, what `tally check` needs, how soon the first screen answers.
// A time fails beyond twice its bound, since other machines are slower; what a browser counts fails beyond the bound itself.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { opener } from './browser.mjs';
import { build, copyOfCheckout } from './site.mjs';

const checkout = copyOfCheckout();
const reference = { effort: 'never', show: 'reference' };
const { status, output, site } = build(checkout, reference);
assert.equal(status, 0, output);
const open = opener(site);

/** Says a figure beside its bound. */
function bound(what, value, most, unit, { slack = 1 } = {}) {
  console.log(`${what}: ${Number(value.toFixed(2))} ${unit}, to be at most ${most}`);
  assert.ok(value <= most * slack, `${what}: ${value} ${unit} are more than ${slack} times ${most}`);
}

/** The shortest of three builds, in seconds: what else the machine did is in none of them, or in all. */
function secondsOfBuild() {
  const once = () => {
    const started = performance.now();
    const { status, output } = build(checkout, reference);
    assert.equal(status, 0, output);
    return (performance.now() - started) / 1000;
  };
  return Math.min(once(), once(), once());
}

test('a build with nothing changed, and one after a changed sentence', () => {
  bound('a build with nothing changed', secondsOfBuild(), 2, 's', { slack: 2 });
  appendFileSync(join(checkout, 'book/src/method.md'), '\nA new sentence.\n');
  bound('a build after a changed sentence', secondsOfBuild(), 2.5, 's', { slack: 2 });
});

test('tally check: its time, and its memory', async () => {
  const started = performance.now();
  // The executable itself: cargo's memory is not tally's.
  const check = spawn(join(checkout, 'target/debug/tally'), ['check'], { cwd: checkout, stdio: 'ignore' });
  let peak = 0;
  const look = setInterval(() => {
    const path = `/proc/${check.pid}/status`;
    if (existsSync(path)) peak = Math.max(peak, Number(readFileSync(path, 'utf8').match(/VmHWM:\s+(\d+)/)?.[1] ?? 0));
  }, 20);
  const code = await new Promise((ended) => check.on('close', ended));
  clearInterval(look);
  assert.equal(code, 0);
  bound('tally check', (performance.now() - started) / 1000, 3, 's', { slack: 2 });
  bound('memory of tally check', peak / 1024, 200, 'MiB', { slack: 2 });
});

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
  bound('a warm build among 100 machines', secondsOfBuild(), 3, 's', { slack: 2 });
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

test('the first screen answers', async () => {
  build(checkout, reference);
  const measure = async (width, height) => {
    const { page, close } = await open('introduction.html', { width, height });
    const measured = await page.evaluate(() => {
      const words = (text) => text.trim().split(/\s+/).length;
      const main = document.querySelector('main');
      const lead = document.querySelector('.lead');
      const before = main.innerText.slice(0, main.innerText.indexOf(lead.innerText.slice(0, 40)));
      const bottom = (selector) => document.querySelector(selector).getBoundingClientRect().bottom;
      return { before: words(before), lead: words(lead.innerText), all: words(main.innerText), answer: bottom('.lead'), ladder: bottom('#ladder .wide-only') };
    });
    await close();
    return measured;
  };
  const wide = await measure(1440, 900);
  bound('words before the answer', wide.before, 40, 'words');
  bound('words of the answer', wide.lead, 90, 'words');
  bound('words of the first page', wide.all, 900, 'words');
  bound('where the ladder ends on a window of 1440 × 900', wide.ladder, 900, 'px');
  const phone = await measure(390, 844);
  bound('where the answer ends on a phone of 390 × 844', phone.answer, 844, 'px');
});
