// What a reader may bring along, at its worst: records of half of the experiments, a CPU with an endless name, words with markup in them, no Node,
// a small screen, large letters, no scripts, paper. Pages stand all the same, and say what is missing.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import test from 'node:test';
import { eachPage, opener, wider } from './browser.mjs';
import { summed } from './records.mjs';
import { EVERYTHING, build, copyOfCheckout, deadLinks, onlyPages, pages } from './site.mjs';

const checkout = copyOfCheckout('hostile');
const machines = join(checkout, 'data/machines');
const reference = join(machines, readlinkSync(join(machines, 'reference')));
const CPU = `Endless ${'<b>{{#include x}}</b>'} ${'Processor'.repeat(20)}`;

/** Every other experiment was never measured, and the others on a CPU whose name has 200 letters and markup in them. */
function halve() {
  const tally = (...words) => execFileSync('cargo', ['tally', ...words], { cwd: checkout, stdio: 'ignore' });
  const unpacked = mkdtempSync(join(tmpdir(), 'unpacked-'));
  tally('unpack', basename(reference), '--to', unpacked);
  rmSync(reference, { recursive: true });
  const records = readdirSync(unpacked, { recursive: true }).filter((file) => file.endsWith('.jsonl')).sort();
  const nameOf = (file) => file.split(sep).slice(1).join(sep);
  const experiments = [...new Set(records.map(nameOf))].sort();
  const lost = new Set(experiments.filter((_, nth) => nth % 2 === 1));
  const newest = new Map();
  for (const file of records.filter((file) => !lost.has(nameOf(file)))) {
    const text = readFileSync(join(unpacked, file), 'utf8').replace(/"CPU":"[^"]*"/, `"CPU":${JSON.stringify(CPU)}`);
    const [, time] = text.match(/"time":"([^"]*)"/);
    if (time > (newest.get(nameOf(file))?.time ?? '')) newest.set(nameOf(file), { time, text });
  }
  // An export takes what was measured here, which is nothing in a copy.
  const local = join(checkout, 'data/local');
  for (const [name, { text }] of newest) {
    mkdirSync(dirname(join(local, name)), { recursive: true });
    writeFileSync(join(local, name), text.trimEnd().split('\n').map((line) => `${summed(line)}\n`).join(''));
  }
  rmSync(unpacked, { recursive: true });
  tally('export', basename(reference));
  rmSync(local, { recursive: true });
  return { lost: lost.size, kept: experiments.length - lost.size };
}

/** A label with markup in it, as a plan may have by mistake. */
function spoilLabel() {
  const path = join(checkout, 'benches-src/switch-cost/programs.toml');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace(/^(thread-socket = { label = )"[^"]*"/m, (_, entry) => `${entry}"threads <i>{{#x}}</i> & \\"more\\""`));
}

const { lost, kept } = halve();
spoilLabel();
const { status, output, site } = build(checkout, { effort: 'never', show: 'reference' });
assert.equal(status, 0, output);
const open = opener(site);
const all = pages(site);

test('half of the experiments are missing, and every page still makes sense', () => {
  assert.ok(lost > 20 && kept > 20, `${lost} lost, ${kept} kept`);
  for (const name of all) {
    const [html] = readFileSync(join(site, name), 'utf8').match(/<main>[\s\S]*<\/main>/);
    for (const mark of ['cmdrun error', '<!-- cmdrun', '<b>{', '<i>{', 'NaN', 'undefined']) assert.ok(!html.includes(mark), `${name} contains ${mark}`);
    // A finding whose number is missing falls away, and leaves no empty title behind.
    assert.doesNotMatch(html, /<p class="(finding|lead)">\s*<\/p>/, name);
  }
  assert.deepEqual(deadLinks(site), [], 'what leads to a number leads to where it says that there is none');
  const answers = ['switch-cost', 'creation', 'memory', 'limits', 'async-vs-manual', 'does-it-matter'];
  const missing = answers.filter((name) => /class="missing"/.test(readFileSync(join(site, `${name}.html`), 'utf8')));
  assert.ok(missing.length > 0, 'nothing says what was not measured');
});

const SOME = ['introduction', 'switch-cost', 'switch-cost/what-a-hop-over-a-socket-costs', 'creation', 'memory', 'limits', 'async-vs-manual', 'does-it-matter', 'would-threads-do', 'machines', 'claims'].map((name) => `${name}.html`);

/** Whoever reads, and how. */
const READERS = {
  'a screen of 320 px': { width: 320 },
  'a zoom of 200 %': { width: 720, deviceScaleFactor: 2 },
  'reduced motion': { reducedMotion: 'reduce' },
  'no JavaScript': { width: 390, javaScriptEnabled: false },
};

for (const [who, options] of Object.entries(READERS)) {
  test(`${who}: no page is wider than the screen, and none complains`, async () => {
    await eachPage(site, SOME, options, async (name, page) => {
      assert.ok((await wider(page)) <= 0, `${name} is ${await wider(page)} px too wide`);
    });
  });
}

test('letters twice as large: no page is wider than the screen', async () => {
  await eachPage(site, SOME, { width: 1000 }, async (name, page) => {
    await page.addStyleTag({ content: 'html { font-size: 125% !important; } body { font-size: 3.2rem !important; }' });
    // The arrows beside the text are mdBook's.
    const out = await page.evaluate(() => document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth);
    assert.ok(out <= 0, `${name} is ${out} px too wide`);
  });
});

test('on paper what is folded stays folded but for tables and claims, and no number breaks', async () => {
  const { page, close } = await open('switch-cost/what-a-hop-over-a-socket-costs.html', { width: 718, javaScriptEnabled: false });
  await page.emulateMedia({ media: 'print' });
  const seen = (selector) => page.locator(selector).first().evaluate((element) => element.checkVisibility({ contentVisibilityAuto: true }) && element.getBoundingClientRect().height > 0);
  assert.equal(await seen('details.programs pre'), false, 'listings are printed');
  if ((await page.locator('details.numbers table').count()) > 0) assert.equal(await seen('details.numbers table td'), true, 'a folded table is not printed');
  const broken = await page.$$eval('main .interval', (intervals) => intervals.filter((own) => own.getClientRects().length > 1).map((own) => own.textContent));
  assert.deepEqual(broken, []);
  await close();
});

test('without Node a page has its numbers in tables, and says why there is no chart', () => {
  const folder = mkdtempSync(join(tmpdir(), 'no-node-'));
  // Everything that a build needs but Node.
  for (const place of process.env.PATH.split(':')) {
    let names = [];
    try {
      names = readdirSync(place);
    } catch {
      // A folder of PATH need not exist.
    }
    for (const name of names.filter((name) => !['node', 'npm', 'npx'].includes(name))) {
      try {
        symlinkSync(join(place, name), join(folder, name));
      } catch {
        // The first of a name counts.
      }
    }
  }
  // What was drawn before would be found again.
  const path = join(checkout, 'benches-src/switch-cost/programs.toml');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^(task-socket = { label = )"[^"]*"/m, '$1"tasks that nobody drew before"'));
  const name = 'switch-cost/what-a-hop-over-a-socket-costs';
  if (!EVERYTHING) onlyPages(checkout, [name]);
  const { status, output, site } = build(checkout, { effort: 'never', show: 'reference' }, { PATH: folder });
  rmSync(folder, { recursive: true });
  assert.equal(status, 0, output);
  assert.match(output, /Node\.js 20 or newer was not found/);
  const html = readFileSync(join(site, `${name}.html`), 'utf8');
  assert.match(html, /class="missing"><strong>no chart<\/strong>: Node\.js/);
  assert.match(html, /<td[^>]*>[\d.]+ (ns|µs)/, 'its numbers stand in a table');
});
