// What a reader meets: how soon a page answers, how long it is, what a search leads to, whether tables and charts have room, and prose that can
// be read. Every figure is printed beside its bound.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { eachPage, opener, resize } from '../browser.mjs';
import { aboveCeilings, counted, pages as sources, prose } from '../prose.mjs';
import { ADDRESS, ANSWERS, EVERYTHING, kept, pages, published } from '../site.mjs';

const site = published();
const open = opener(site);
const all = pages(site);
const withFigures = all.filter((name) => readFileSync(join(site, name), 'utf8').includes('data-live='));

/** Prints the largest of these figures beside what it may be, and fails with all that are beyond. */
function bounded(what, figures, most, unit) {
  const [worst, where] = figures.reduce((worst, figure) => (figure[0] > worst[0] ? figure : worst), [0, 'nowhere']);
  console.log(`${what}: at most ${Math.round(worst)} ${unit} (${where}), to be at most ${most}`);
  const beyond = figures.filter(([figure]) => figure > most).map(([figure, where]) => `${where}: ${Math.round(figure)} ${unit}`);
  assert.deepEqual(beyond, [], `${what}, to be at most ${most} ${unit}`);
}

/** What a page shows at a width of 1440 px while everything that folds is folded. */
const look = (page) =>
  page.evaluate(() => {
    const main = document.querySelector('main');
    const words = (text) => text.trim().split(/\s+/).filter(Boolean).length;
    const lead = main.querySelector('.lead');
    const figure = main.querySelector('figure.figure, .figure');
    const shown = main.innerText;
    const end = (element) => element.getBoundingClientRect().bottom + window.scrollY;
    const codeBefore = [...main.querySelectorAll('pre')].filter(
      (pre) => figure && pre.checkVisibility() && pre.compareDocumentPosition(figure) & Node.DOCUMENT_POSITION_FOLLOWING,
    );
    return {
      height: document.documentElement.scrollHeight,
      inner: main.getBoundingClientRect().height,
      // What stands in a picture is looked at, not read.
      words: words(shown) - [...main.querySelectorAll('.picture')].reduce((sum, picture) => sum + words(picture.innerText), 0),
      // After the question itself.
      answerBegins: lead ? words(shown.slice(0, shown.indexOf(lead.innerText))) - words(main.querySelector('h1').innerText) : undefined,
      leadWords: lead ? words(lead.innerText) : undefined,
      figureEnds: figure ? end(figure.querySelector('.wide-only') ?? figure) : undefined,
      code: codeBefore.reduce((lines, pre) => lines + pre.innerText.split('\n').length, 0),
      headings: [...main.querySelectorAll('h1')].length,
    };
  });

/** Opens everything that folds. */
const unfold = (page) => page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));

/** Tables that are wider than their room. */
const wideTables = (boxes) =>
  boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => `${box.closest('[id]')?.id}: ${box.scrollWidth} of ${box.clientWidth} px`);

/** Tables whose first number lies beyond their right end. */
const withoutNumber = (boxes) =>
  boxes.flatMap((box) => {
    const number = [...box.querySelectorAll('tbody td')].find((cell) => /\d/.test(cell.textContent));
    if (!number || number.colSpan > 1) return [];
    const { left } = number.getBoundingClientRect();
    return left + 40 > box.getBoundingClientRect().right ? [`${box.closest('[id]')?.id}: ${Math.round(left)} px`] : [];
  });

/** How a picture is: its texts that lie outside of it or over another, how high its smallest letters are, and how high it is. */
const inspect = (picture) =>
  picture.evaluate((svg) => {
    const frame = svg.getBoundingClientRect();
    const scale = frame.width / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll('text')].map((text) => {
      const { left, right, top, bottom, width } = text.getBoundingClientRect();
      const { fontSize, opacity } = getComputedStyle(text);
      const size = Number.parseFloat(fontSize) * scale;
      // A line's box is higher than its letters, which are about as high as their font's size.
      const air = 0.18 * size;
      return { said: text.textContent, left, right, top, bottom, isSeen: width > 0 && opacity !== '0', size, letters: { top: top + air, bottom: bottom - air } };
    });
    // Vega leaves numbers of an axis that have no room in the picture, and unseen.
    const seen = texts.filter(({ isSeen }) => isSeen);
    const isOutside = ({ left, right, top, bottom }) =>
      left < frame.left - 1 || right > frame.right + 1 || top < frame.top - 1 || bottom > frame.bottom + 1;
    const isOver = (one, other) =>
      Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
      Math.min(one.letters.bottom, other.letters.bottom) - Math.max(one.letters.top, other.letters.top) > 1;
    const pairs = seen.flatMap((one, nth) => seen.slice(nth + 1).map((other) => [one, other]));
    return {
      outside: seen.filter(isOutside).map(({ said }) => said),
      over: pairs.filter(([one, other]) => isOver(one, other)).map(([one, other]) => `${one.said} | ${other.said}`),
      smallest: Math.min(...seen.map(({ size }) => size)),
      height: frame.height,
    };
  });

// A live chart is drawn at every other figure of each width; by `ci/test --nightly` at all.
const WIDTHS = [[390, '.narrow-only', 1], [1440, '.wide-only', 0]];
const pictures = [];
let figures = 0;

/** Looks at every picture of a page in both widths, and then at live charts: one that is live hides the pictures. */
async function lookAtPictures(name, page) {
  const own = [];
  for (const figure of await page.locator('figure[data-live]').all()) own.push({ figure, where: `${name}#${await figure.getAttribute('id')}`, nth: figures++ });
  // A button has to have room to be clicked.
  const widen = (width) => page.setViewportSize({ width, height: 900 });
  for (const [width, shown] of WIDTHS) {
    await widen(width);
    for (const { figure, where } of own) pictures.push({ width, where, kind: 'drawn', ...(await inspect(figure.locator(`${shown} svg`))) });
  }
  for (const [width, , parity] of WIDTHS) {
    await widen(width);
    for (const { figure, where } of own.filter(({ nth }) => EVERYTHING || nth % 2 === parity)) {
      await figure.locator('button.explore').click();
      const live = figure.locator('.vega-embed svg.marks');
      await live.waitFor();
      pictures.push({ width, where, kind: 'live', ...(await inspect(live)) });
    }
    if (EVERYTHING) {
      await page.reload();
      await unfold(page);
    }
  }
}

// What several tests ask of every page is looked at in one visit.
const looks = new Map();
const tables = { wide: [], unseen: [] };
test.before(async () => {
  await eachPage(site, all, {}, async (name, page) => {
    looks.set(name, await look(page));
    await unfold(page);
    const ofPage = (what) => `${name}, ${what}`;
    tables.wide.push(...(await page.$$eval('main .wide', wideTables)).map(ofPage));
    await resize(page, 390);
    tables.unseen.push(...(await page.$$eval('main .table .wide', withoutNumber)).map(ofPage));
    await lookAtPictures(name, page);
  });
});
const of = (names, what) => names.map((name) => [looks.get(name)[what], name]);

test('a chapter answers first, and its figure follows at once', () => {
  for (const name of ANSWERS) assert.ok(looks.get(name).leadWords > 5, `${name} has no answer`);
  bounded('words between a question and its answer', of(ANSWERS, 'answerBegins'), 0, 'words');
  bounded('words of an answer', of(ANSWERS, 'leadWords'), 60, 'words');
  bounded('where the first figure of a chapter ends', of(ANSWERS, 'figureEnds'), 1.5 * 900, 'px');
  bounded('lines of code before the first figure of a chapter', of(ANSWERS, 'code'), 0, 'lines');
});

test('no page is longer than a reader reads', () => {
  bounded('height of a page', of(all, 'height'), 10 * 900, 'px');
  bounded('height of an answer page', of(ANSWERS, 'height'), 9_000, 'px');
  bounded('words on an answer page', of(ANSWERS, 'words'), 1_500, 'words');
  for (const name of all) assert.equal(looks.get(name).headings, 1, `${name} has one question`);
});

/** What somebody types, and which page answers it first. */
const SEARCHES = {
  pinning: 'switch-cost/why-pinning-helps.html',
  'how many threads': 'limits.html',
  'how many threads can I have': 'limits.html',
  'memory per thread': 'memory.html',
  'should I use async': 'does-it-matter.html',
  'should I use async for 200 connections': 'does-it-matter.html',
  io_uring: 'switch-cost/what-does-a-loop-by-hand-gain.html',
  'is io_uring faster for a server': 'does-it-matter/is-a-server-faster-over-io-uring.html',
  'context switch': 'switch-cost.html',
  'tokio context switch ns': 'switch-cost.html',
  'how many threads can linux handle': 'limits.html',
  'thread stack memory rss': 'memory/what-is-a-threads-memory-made-of.html',
  'go goroutine memory': 'memory/how-do-goroutines-compare.html',
  'green threads': 'memory/how-do-goroutines-compare.html',
  'virtual threads': 'memory/how-do-virtual-threads-compare.html',
  'async overhead hyper': 'async-vs-manual/where-does-the-overhead-come-from.html',
  'spawn_blocking cost': 'switch-cost/what-leaving-async-costs.html',
  'mutex tokio vs std': 'switch-cost/what-a-mutex-costs.html',
  'is async faster than threads': 'introduction.html',
  'should I use tokio or threads': 'introduction.html',
  'thread per connection 300 connections': 'would-threads-do.html',
  'io_uring vs epoll': 'switch-cost/what-does-a-loop-by-hand-gain.html',
  c10k: 'does-it-matter/can-a-server-have-ten-thousand-threads.html',
  'thread creation time': 'creation/what-a-single-thread-costs.html',
  'thread pool vs async': 'does-it-matter/what-if-a-request-asks-others.html',
  max_map_count: 'limits/how-to-raise-the-limit.html',
  'process vs thread switch': 'switch-cost/is-a-process-switch-slower.html',
  undecided: 'glossary.html',
  'tail latency': 'does-it-matter/is-async-better-for-tail-latency.html',
  'allocator jemalloc': 'does-it-matter/how-much-is-the-allocator.html',
  'retpoline mitigations': 'switch-cost/what-the-kernel-charges.html',
  'why does pinning help': 'switch-cost/why-pinning-helps.html',
};

test('a search leads first to the page that answers', async () => {
  const { page, close } = await open('introduction.html');
  await page.keyboard.press('s');
  const bar = page.locator('#mdbook-searchbar, #searchbar').first();
  await bar.waitFor();
  const wrong = [];
  for (const [words, answer] of Object.entries(SEARCHES)) {
    await bar.fill(words);
    await bar.dispatchEvent('keyup');
    const first = page.locator('#mdbook-searchresults li a, #searchresults li a').first();
    await page.waitForFunction(
      ({ words }) => document.querySelector('#mdbook-searchresults-header, #searchresults-header')?.textContent.includes(`'${words}'`),
      { words },
      { timeout: 10_000 },
    );
    const found = new URL(await first.getAttribute('href'), page.url()).pathname;
    if (!found.endsWith(`/${answer}`)) wrong.push(`${words} leads to ${found}, and not to ${answer}`);
  }
  await close();
  assert.deepEqual(wrong, []);
});

test('listings are not found by a search, and programs have a page', () => {
  const index = readFileSync(join(site, pagesOf(/^searchindex.*\.js$/)[0]), 'utf8');
  assert.doesNotMatch(index, /harness::repeat\(/, 'the code of a whole program is in the index');
  for (const name of ANSWERS) assert.ok(all.includes(name.replace('.html', '/programs.html')), name);
});

/** Files of the site whose names are like this. */
function pagesOf(pattern) {
  return readdirSync(site).filter((name) => pattern.test(name));
}

test('every table has room on a wide page, and its first number is seen on a phone', () => {
  assert.deepEqual(tables.wide, [], 'tables wider than their room');
  assert.deepEqual(tables.unseen, [], 'on a phone the first number is out of sight');
});

test('on a phone every published claim says its verdict before its words', async () => {
  const { page, close } = await open('claims.html', { width: 390 });
  const claims = await page.$$eval('.ledger', ([published]) =>
    [...published.tBodies].filter((body) => body.querySelector('q, td:nth-child(2)')).map((body) => {
      const [verdict, words] = ['td.verdict', 'td:nth-child(2)'].map((own) => body.querySelector(own).getBoundingClientRect());
      return { verdict: [verdict.left, verdict.right, verdict.height], isAbove: verdict.bottom <= words.top + 1 };
    }),
  );
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await close();
  assert.ok(claims.length > 50, `${claims.length} claims`);
  for (const { verdict: [left, right, height], isAbove } of claims) assert.ok(left >= 0 && right <= 390 && height > 0 && isAbove);
  bounded('height of the claims on a phone', [[height, 'claims.html']], 11_500, 'px');
});

for (const width of [1440, 390]) {
  test(`at ${width} px no text lies outside its chart or over another, drawn or live, letters are 11 px high, and a chart is seen as a whole`, () => {
    const own = pictures.filter((picture) => picture.width === width);
    for (const kind of ['drawn', 'live']) assert.ok(own.filter((picture) => picture.kind === kind).length > 30, kind);
    const isWrong = ({ outside, over, smallest }) => outside.length > 0 || over.length > 0 || smallest < 11;
    const drawn = own.filter(({ kind }) => kind === 'drawn');
    if (width > 1000) bounded('height of a chart', drawn.map(({ height, where }) => [height, where]), 700, 'px');
    assert.deepEqual(own.filter(isWrong), []);
  });
}

test('prose is under its ceilings on every page', () => {
  const above = sources().flatMap(({ file, text }) => aboveCeilings(counted(prose(text))).map((line) => `${file}: ${line}`));
  assert.deepEqual(above, []);
});

test('every page says what it found where a link to it is shown, and is linked to its picture', () => {
  const titles = new Map();
  for (const name of all) {
    const html = readFileSync(join(site, name), 'utf8');
    const tag = (property) => html.match(new RegExp(`<meta (?:property|name)="${property}" content="([^"]*)"`))?.[1] ?? '';
    assert.ok(tag('og:title').length > 3, `${name} has no title`);
    assert.ok(tag('description').length > 20, `${name} has no description`);
    assert.equal(titles.get(tag('description')), undefined, `${name} is described as ${titles.get(tag('description'))} is`);
    titles.set(tag('description'), name);
    if (!withFigures.includes(name)) continue;
    assert.ok(tag('og:image').startsWith(`${ADDRESS}/`), `${name} names no picture by its whole address`);
    const picture = readFileSync(join(site, tag('og:image').slice(ADDRESS.length)));
    assert.equal(picture.toString('latin1', 1, 4), 'PNG', name);
    assert.deepEqual([picture.readUInt32BE(16), picture.readUInt32BE(20)], [1200, 630], name);
  }
});

const textOf = kept((file) => readFileSync(join(site, file), 'utf8'));

/** Where the site's own redirects lead from an address, and where the script does that knows on which page each name stands. */
function follow(address) {
  const [file, anchor] = address.split('#');
  const has = (file, anchor) => textOf(file).includes(` id="${anchor}"`);
  if (has(file, anchor)) return true;
  const moved = textOf(file).match(/const fragmentMap =\s*(\{.*?\})\s*;/s);
  const target = moved && JSON.parse(moved[1])[`#${anchor}`];
  if (target) {
    const [page, own] = target.split('#');
    return existsSync(join(site, page)) && (own === undefined || has(page, own));
  }
  let name = anchor;
  while (name && !Object.hasOwn(places, name)) name = name.slice(0, Math.max(0, name.lastIndexOf('-')));
  return name !== '' && (has(places[name], anchor) || has(places[name], name));
}
const places = JSON.parse(readFileSync(join(site, 'generated/places.js'), 'utf8').replace(/^window.places = |;\s*$/g, ''));

test('old addresses lead to where things stand now', async () => {
  const old = readFileSync(new URL('../old-addresses.txt', import.meta.url), 'utf8').trim().split('\n');
  assert.deepEqual(old.filter((address) => !follow(address)), []);
  // And a browser goes there.
  const { page, close } = await open('introduction.html');
  const lost = [];
  for (const address of old.filter((_, nth) => nth % 12 === 0)) {
    const [file, anchor] = address.split('#');
    await page.goto('about:blank');
    await page.goto(`${pathToFileURL(join(site, file)).href}#${anchor}`);
    // It is where it was, or its section became a page.
    const arrived = () => document.querySelector(':target') !== null || (location.hash === '' && document.readyState === 'complete');
    const is = await page.waitForFunction(arrived, undefined, { timeout: 5_000 }).then(() => true, () => false);
    if (!is) lost.push(`${address}: ${page.url()}`);
  }
  await close();
  assert.deepEqual(lost, []);
});
