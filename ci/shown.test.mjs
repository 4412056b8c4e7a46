// What a build shows by the real mdBook: another machine's numbers, a reader's own, files for
// download, pictures.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { release, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import test from 'node:test';
import { bound } from './bound.mjs';
import { eachPage } from './browser.mjs';
import { summed } from './records.mjs';
import { build, copyOfCheckout, deadLinks, drawn, machines, otherMachines, page, pages } from './site.mjs';

// It compiles no program.
const checkout = copyOfCheckout('shown');

test('the book can be built with the numbers of another machine, also of one whose records are older than the plans', () => {
  const [show] = drawn(otherMachines(checkout), 1);
  const { status, output } = build(checkout, { effort: 'never', show });
  assert.equal(status, 0, `${show}\n${output}`);
});

test('everything for download is what its link says', () => {
  const { site } = build(checkout, { effort: 'never', show: 'reference' });
  const folder = join(site, 'generated');
  const machineOf = (name) => page(site, name.slice(0, -5)).match(/<p class="shown" data-machine="([\w-]+)"/)?.[1];
  const machines = new Set(pages(site).map(machineOf).filter(Boolean));
  const wanted = [...machines, 'places.js', 'vega'].sort();
  assert.deepEqual(readdirSync(folder).sort(), wanted, 'Vega, whose numbers stand on pages, and where things stand: what was shown before is not published');
  const files = readdirSync(folder, { recursive: true }).filter((file) => statSync(join(folder, file)).isFile());
  const of = (ending) => files.filter((file) => file.endsWith(ending));
  for (const file of of('.jsonl')) {
    for (const line of readFileSync(join(folder, file), 'utf8').trim().split('\n')) JSON.parse(line);
  }
  for (const file of of('.vl.json')) assert.ok(JSON.parse(readFileSync(join(folder, file), 'utf8')).datasets.rows.length > 0);
  // A row per cell of an experiment, or per number of one of the calculator's cases.
  const heads = { 'calculator.csv': /^case,what,of,unit,median,/, 'ladder.csv': /^what,detail,machine,ratio,/, 'kernel-price.csv': /^machine,a_bare_write_and_read,/ };
  const head = (file) => heads[basename(file).replace(/^.*-dumbbell/, 'ladder')] ?? /^cell,program,placement,/;
  for (const file of of('.csv')) assert.match(readFileSync(join(folder, file), 'utf8'), head(file));
  assert.ok(of('.jsonl').length > 0 && of('.vl.json').length > 0 && of('.csv').length > 0);
});

test('the picture in the README is the one that its command draws', () => {
  const { stdout, status, stderr } = spawnSync('cargo', 'tally figure ladder --machine reference --standalone'.split(' '), { cwd: checkout, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.equal(readFileSync(join(checkout, 'book/picture.svg'), 'utf8'), stdout);
});

test('text in a picture can become neither markup nor a directive', () => {
  const hostile = '{{#include /etc/passwd}} <b>"\'&';
  const chart = {
    data: { name: 'rows' },
    datasets: { rows: [{ label: hostile }] },
    title: hostile,
    mark: 'text',
    encoding: { text: { field: 'label' }, y: { field: 'label', type: 'nominal' } },
  };
  const input = JSON.stringify({ prefix: 'a', title: hostile, description: hostile, wide: chart, narrow: chart });
  const { stdout, stderr, status } = spawnSync('node', ['draw.mjs'], { cwd: join(checkout, 'book/charts'), input, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  for (const svg of Object.values(JSON.parse(stdout))) {
    assert.doesNotMatch(svg, /[{}]|<b>/);
    assert.match(svg, /&#123;&#123;#include \/etc\/passwd&#125;&#125;/);
  }
});

/**
 * Where the newest session of a whole quick build that came with the checkout lies, unpacked below
 * this folder, and its records.
 */
function newestQuickBuild(folder) {
  const ofMachine = (machine) => readdirSync(join(checkout, 'data/machines', machine, 'sessions')).map((file) => [machine, file.replace('.bundle.zst', '')]);
  const sessions = machines(checkout).flatMap(ofMachine);
  sessions.sort(([, one], [, other]) => other.localeCompare(one, 'en', { numeric: true }));
  for (const [machine, session] of sessions) {
    execFileSync('cargo', ['tally', 'unpack', `${machine}/${session}`, '--to', join(folder, machine)], { cwd: checkout, stdio: 'pipe' });
    const lies = join(folder, machine, session);
    const records = readdirSync(lies, { recursive: true }).filter((file) => file.endsWith('.jsonl'));
    const efforts = records.map((file) => JSON.parse(readFileSync(join(lies, file), 'utf8').split('\n', 1)[0]).header.effort);
    if (efforts.length > 50 && efforts.every((effort) => effort === 'quick')) return { lies, records };
  }
  return assert.fail('no machine has a session of a whole quick build');
}

/** Puts its records in the place of this machine's own: only the kernel of today is known of it. */
function measureQuickly() {
  const folder = mkdtempSync(join(tmpdir(), 'sessions-'));
  const { lies, records } = newestQuickBuild(folder);
  const local = join(checkout, 'data/local');
  rmSync(local, { recursive: true, force: true });
  cpSync(lies, local, { recursive: true });
  for (const file of records) {
    const [first, ...rest] = readFileSync(join(local, file), 'utf8').split('\n');
    const { sum, ...line } = JSON.parse(first);
    line.header.machine = { known: { kernel: release() }, unavailable: {} };
    writeFileSync(join(local, file), [summed(JSON.stringify(line)), ...rest].join('\n'));
  }
  rmSync(folder, { recursive: true });
}

/**
 * What stands in sight, where nothing is unfolded: boxes in the place of numbers, whether a number
 * is there, what comes first, and sentences of two machines.
 */
const inSight = (page) =>
  page.evaluate(() => {
    const main = document.querySelector('main');
    const seen = (selector) => [...main.querySelectorAll(selector)].filter((own) => own.checkVisibility({ visibilityProperty: true }));
    const word = (box) => (box.querySelector('strong') ?? box).textContent;
    // How old records are depends on what was changed since somebody measured.
    const isOfItsAge = (own) => ['stale', 'older', 'older plan'].includes(word(own));
    const without = (own) => {
      const copy = own.cloneNode(true);
      copy.querySelectorAll('.missing, .reason').forEach((box) => box.remove());
      return copy.textContent;
    };
    const numbers = seen('a.value, .figures, .finding, td').filter((own) => /\d/.test(without(own)));
    const mixed = [...main.querySelectorAll('p, li')].flatMap((own) => {
      const copy = own.cloneNode(true);
      for (const there of copy.querySelectorAll('span.elsewhere')) {
        there.querySelector('.legend').remove();
        there.replaceWith('OTHER', /[.]\s*$/.test(there.textContent) ? '. ' : '');
      }
      copy.querySelectorAll('a.value').forEach((here) => here.replaceWith('OWN'));
      return copy.textContent.split(/[.:;?]\s/).filter((sentence) => sentence.includes('OTHER') && sentence.includes('OWN'));
    });
    return {
      boxes: seen('.missing').filter((own) => !isOfItsAge(own)).map(word),
      hasBanner: main.querySelector('.shown') !== null,
      hasNumber: numbers.length > 0,
      begins: seen('a.value, .figures, .missing').find((own) => !isOfItsAge(own))?.matches('.missing') ?? false,
      mixed,
    };
  });

test('a reader’s own quick build has few boxes in sight, a number on each page that has any, and no dead link', async () => {
  measureQuickly();
  const { status, output, site } = build(checkout, { effort: 'never' });
  assert.equal(status, 0, output);
  const [counts, wrong] = [{}, deadLinks(site)];
  await eachPage(site, pages(site), {}, async (name, page) => {
    const { boxes, hasBanner, hasNumber, begins, mixed } = await inSight(page);
    for (const word of boxes) counts[word] = (counts[word] ?? 0) + 1;
    if (hasBanner && !hasNumber) wrong.push(`${name}: no number is in sight`);
    if (begins) wrong.push(`${name}: it begins with a box`);
    wrong.push(...mixed.map((sentence) => `${name}: a sentence of two machines: ${sentence}`));
  });
  console.log(counts);
  bound('boxes in sight', Object.values(counts).reduce((sum, count) => sum + count, 0), 10, 'boxes');
  assert.deepEqual(wrong, []);
});
