// The calculator in a real browser: it computes and says the same as `tally calculator`, whatever is typed and whatever an address says.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { barriers, opener, wider } from '../browser.mjs';
import { EVERYTHING, published } from '../site.mjs';

const root = new URL('../..', import.meta.url);
const site = published();
const page = 'would-threads-do.html';

/** Opens a page, and fails at the end if it complained or asked another host. */
async function open(name, options, ofSite = site) {
  const { page: opened, errors, foreign, close } = await opener(ofSite)(name, options);
  return {
    opened,
    close: async () => {
      assert.deepEqual([errors, foreign], [[], []]);
      await close();
    },
  };
}

/** What the form shows: its answer, its quiet line, its fields, and its numbers. */
const shown = (opened) =>
  opened.evaluate(() => {
    const form = document.querySelector('.service');
    const numbers = [...form.querySelectorAll('data')].map((own) => [`${own.dataset.output} ${own.dataset.who}`, Number(own.value)]);
    const fields = [...form.querySelectorAll('input')].map((input) => [input.name, Number(input.value)]);
    const answer = form.querySelector('.answer');
    return {
      answer: answer.textContent,
      state: answer.dataset.state,
      notice: form.querySelector('.notice').textContent,
      fields: Object.fromEntries(fields),
      numbers: Object.fromEntries(numbers),
    };
  });

/** Goes to an address of the same page, and waits until the form has seen it. */
const follow = (opened, address) =>
  opened.evaluate(
    (address) =>
      new Promise((seen) => {
        addEventListener('hashchange', seen, { once: true });
        location.hash = address;
      }),
    address,
  );

function tally(...flags) {
  return JSON.parse(execFileSync('cargo', ['tally', 'calculator', '--json', ...flags], { cwd: root, encoding: 'utf8', maxBuffer: 1e8 })).cases;
}

/** That the form computes and says what tally does. */
function agrees(live, own, where) {
  assert.equal(live.answer, own.answer, where);
  assert.equal(live.state, own.would_threads_do, where);
  for (const [output, values] of Object.entries(own.outputs)) {
    for (const who of ['thread', 'task', 'extra'].filter((who) => values[who]?.median !== undefined)) {
      const [number, wanted] = [live.numbers[`${output} ${who}`], values[who].median];
      assert.ok(Math.abs(number - wanted) <= 1e-9 * Math.abs(wanted), `${where}, ${output} ${who}: ${wanted} by tally, ${number} live`);
    }
  }
}

/** Addresses that no two runs differ in. */
function randomAddresses(count) {
  let state = 34;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const between = (least, most) => Number((least * (most / least) ** random()).toPrecision(3));
  const one = () => ({
    connections: Math.round(between(1, 1e6)),
    requests: between(1, 1e6),
    calls: Math.floor(10 * random()),
    wait: between(0.01, 1000),
    work: between(1, 1e5),
    memory: between(0.1, 100),
  });
  return Array.from({ length: count }, () => `${new URLSearchParams(one())}`);
}

test('every preset computes and says what tally does', async () => {
  const { opened, close } = await open(page);
  const cases = tally('--machine', 'reference');
  assert.ok(cases.length >= 5);
  for (const own of cases) {
    await opened.getByRole('button', { name: own.case, exact: true }).click();
    const live = await shown(opened);
    assert.deepEqual(live.fields, own.set);
    agrees(live, own, own.case);
    assert.equal(live.notice, '');
    assert.equal(Object.fromEntries(new URLSearchParams(new URL(opened.url()).hash.slice(1))).requests, String(own.set.requests));
  }
  await close();
});

test('160 random settings are each answered, and as tally answers them', async () => {
  const { opened, close } = await open(page);
  const addresses = randomAddresses(160);
  const cases = tally('--machine', 'reference', ...addresses.flatMap((address) => ['--address', address]));
  for (const [nth, own] of cases.entries()) {
    await follow(opened, addresses[nth]);
    const live = await shown(opened);
    agrees(live, own, addresses[nth]);
    assert.match(live.answer, /^(Yes|Probably|Too uncertain to say|Probably not|No|These numbers cannot be): /, addresses[nth]);
  }
  assert.deepEqual(new Set(cases.map((own) => own.would_threads_do)), new Set(['yes', 'probably', 'hardly', 'no', 'senseless']), 'of each kind there are some');
  await close();
});

test('nonsense in an address is ignored field by field, in one quiet line', async () => {
  const { opened, close } = await open(`${page}#connections=300&requests=lots`);
  const first = await shown(opened);
  assert.deepEqual([first.fields.connections, first.fields.requests], [300, 1000]);
  assert.equal(first.notice, 'requests a second: no usable number, so we took 1,000.');
  const markup = '<img src=x onerror=alert(1)>';
  for (const nonsense of ['-5', 'NaN', 'Infinity', '1e400', '0x10', '', '1,000', 'ten', markup, 'x'.repeat(10_000)]) {
    await follow(opened, `requests=${encodeURIComponent(nonsense)}&memory=16&${encodeURIComponent(nonsense)}=1`);
    const { fields, notice, answer } = await shown(opened);
    assert.deepEqual([fields.requests, fields.memory], [1000, 16], nonsense);
    assert.ok(notice.startsWith('requests a second: ') && notice.length < 200, notice);
    assert.match(answer, /^(Yes|Probably|No): /);
  }
  await follow(opened, 'connections=99999999&memory=0&work=1e-9');
  const clamped = await shown(opened);
  assert.deepEqual([clamped.fields.connections, clamped.fields.memory, clamped.fields.work], [1e6, 0.1, 1]);
  assert.match(clamped.notice, /not between 1 and 1,000,000, so we took 1,000,000;/);
  assert.equal(await opened.locator('main img').count(), 0);
  await close();
});

test('what is no whole number is rounded, and said so', async () => {
  const { opened, close } = await open(`${page}#connections=100.5&calls=2.4`);
  const { fields, notice } = await shown(opened);
  assert.deepEqual([fields.connections, fields.calls], [101, 2]);
  assert.equal(notice, 'open connections: a whole number, so we took 101; calls to others per request: a whole number, so we took 2.');
  await close();
});

test('between 100 and 101 connections, and wherever else two measurements meet, nothing jumps', async () => {
  const settings = [99, 100, 101, 299, 300, 301, 999, 1000, 1001, 9999, 10000, 10001];
  const cases = tally('--machine', 'reference', ...settings.flatMap((connections) => ['--address', `connections=${connections}&requests=20000&calls=1`]));
  for (const output of ['extra', 'extra_served', 'extra_asking', 'memory_held']) {
    const numbers = cases.map(({ outputs }) => (outputs[output].extra ?? outputs[output].thread).median);
    for (const nth of numbers.slice(1).keys()) {
      if (settings[nth + 1] - settings[nth] > 1) continue;
      const [before, after] = [numbers[nth], numbers[nth + 1]];
      assert.ok(Math.abs(after - before) <= 0.03 * Math.max(Math.abs(before), Math.abs(after)), `${output} from ${settings[nth]} on: ${before}, ${after}`);
    }
  }
});

test('each row of the front page leads to the same answer of the calculator', async () => {
  const choices = { yes: 'threads will do', probably: 'threads, probably', open: 'too uncertain', hardly: 'tasks, probably', no: 'tasks' };
  const { opened: front, close: closeFront } = await open('index.html');
  const rows = await front.locator('table.which tbody tr:has(a[href*="would-threads-do.html#"])').evaluateAll((rows) =>
    rows.map((row) => [row.querySelector('a').getAttribute('href'), row.querySelector('strong').textContent]),
  );
  await closeFront();
  assert.ok(rows.length >= 6, `${rows.length} rows ask the calculator`);
  const { opened, close } = await open(page);
  for (const [href, choice] of rows) {
    await follow(opened, href.split('#')[1]);
    assert.equal(choices[(await shown(opened)).state], choice, href);
  }
  await close();
});

test('an anchor of the page is none of its settings, and goes where it leads', async () => {
  const { opened, close } = await open(`${page}#connections=300`);
  await follow(opened, 'what-is-left-out');
  assert.equal((await shown(opened)).fields.connections, 300);
  assert.ok(await opened.locator('#what-is-left-out').evaluate((heading) => heading.getBoundingClientRect().top < innerHeight));
  await close();
});

test('a field is typed into: the answer follows and stays in view, the address says it, and mdBook turns no page', async () => {
  const { opened, close } = await open(page, { width: 390, height: 700 });
  const field = opened.getByLabel('open connections');
  await field.focus();
  for (const key of ['Home', 'ArrowLeft', 'ArrowRight', 'ControlOrMeta+a']) await opened.keyboard.press(key);
  await opened.keyboard.type('900000');
  const answer = opened.locator('.service .answer');
  await opened.waitForFunction(() => document.querySelector('.service .answer').textContent.startsWith('No: 900,000 '));
  for (const label of ['open connections', 'memory for connections']) {
    await opened.getByLabel(label).scrollIntoViewIfNeeded();
    const { top, bottom } = await answer.evaluate((answer) => answer.getBoundingClientRect().toJSON());
    assert.ok(top >= 0 && bottom <= 700, `at ${label} the answer is at ${top} to ${bottom}`);
  }
  assert.equal(await answer.getAttribute('aria-live'), 'polite');
  await opened.keyboard.press('Tab');
  assert.ok(opened.url().includes('would-threads-do.html#connections=900000&'), opened.url());
  await opened.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => (window.copied = text) } }));
  await opened.getByRole('button', { name: 'copy link' }).click();
  assert.equal(await opened.evaluate(() => window.copied), opened.url());
  await close();
});

// Widths change what sticks out, themes change colours: by `ci/test --nightly` each width is looked
// at in each theme.
const LOOKS = ['light', 'rust', 'coal', 'navy', 'ayu'].flatMap((theme) => [320, 720, 1440].map((width) => [theme, width]));

test('at every width and in every theme nothing sticks out, and axe finds nothing serious', async () => {
  for (const [theme, width] of LOOKS.filter(([theme, width]) => EVERYTHING || theme === 'light' || width === 720)) {
    const { opened, close } = await open(page, { width, height: 450, theme });
    await opened.locator('.numbers summary').click();
    assert.ok((await wider(opened)) <= 0, `${await wider(opened)} px wider than ${width}`);
    assert.deepEqual(await barriers(opened), [], `${theme} at ${width}`);
    await close();
  }
});

test('without JavaScript each worked case has its answer, and all numbers stand in tables', async () => {
  const { opened, close } = await open(page, { width: 390, javaScriptEnabled: false });
  assert.equal(await opened.locator('.calculator form').count(), 0);
  const cases = tally('--machine', 'reference');
  assert.deepEqual(await opened.locator('.cases .said').allTextContents(), cases.map((own) => own.answer));
  assert.equal(await opened.locator('.numbers').getAttribute('open'), null);
  assert.ok((await opened.locator('.numbers data').count()) >= 75);
  assert.equal(await opened.locator('.calculator .missing').count(), 0, 'the reference machine has every number');
  assert.ok((await opened.locator('table.inputs a.value').count()) >= 10);
  assert.match(await opened.locator('table.formulas').textContent(), /requests a second × switches per request × one switch/);
  await close();
});

test('what was not measured is said with its cure, and nothing is made up for it', async (t) => {
  const copy = mkdtempSync(join(tmpdir(), 'site-'));
  t.after(() => rmSync(copy, { recursive: true }));
  cpSync(site, copy, { recursive: true });
  const html = readFileSync(join(copy, page), 'utf8');
  writeFileSync(join(copy, page), html.replaceAll('"unknown":null', '"unknown":"one switch has no number here (run: \\u003cb>this\\u003c/b>)"'));
  const { opened, close } = await open(page, {}, copy);
  const { state, answer } = await shown(opened);
  assert.equal(state, 'unknown');
  assert.ok(answer.startsWith('Cannot say: one switch has no number here (run: <b>this</b>)'), answer);
  await close();
});

test('on other pages the script does nothing', async () => {
  const { opened, close } = await open('method.html#connections=5');
  assert.equal(await opened.locator('.service').count(), 0);
  await close();
});
