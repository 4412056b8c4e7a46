// Every page of the published site in a real browser: light and dark, phone and wide, with and without JavaScript.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { barriers, eachPage, opener, resize, wider } from '../browser.mjs';
import { deadLinks, kept, pages, published } from '../site.mjs';

const site = published();
const open = opener(site);

const all = pages(site);
const withFigures = all.filter((name) => readFileSync(join(site, name), 'utf8').includes('class="picture'));

test('there are pages, and pages with figures', () => {
  assert.ok(all.length >= 6, String(all));
  assert.ok(withFigures.includes('switch-cost.html') && withFigures.includes('introduction.html'), String(withFigures));
});

/** The file that a link on a page leads to. */
const linked = (name, link) => join(site, dirname(name), link);

/** Of each figure, the picture of this kind, and whether one of the other kind is seen. */
const pictures = (figures, [kind, other]) =>
  figures.map((figure) => {
    const svg = figure.querySelector(`${kind} svg`);
    const { width, height } = svg.getBoundingClientRect();
    return {
      size: [width, height],
      isOtherSeen: [...figure.querySelectorAll(`${other} svg`)].some((other) => other.checkVisibility()),
      // A picture with ways to other pages is a group, or a screen reader would not come to them.
      roles: [svg.getAttribute('role'), svg.querySelector('a') ? 'group' : 'img'],
      title: svg.querySelector(':scope > title').textContent,
      description: svg.querySelector(':scope > desc').textContent,
      specification: figure.querySelector('a[href$=".vl.json"]').getAttribute('href'),
      marks: svg.querySelectorAll('.mark-symbol path, .mark-rect path').length,
    };
  });

/** What a citation says, as text and for BibTeX, and where it leads. */
const citations = (cites) =>
  cites.map((cite) => ({
    text: cite.querySelector(':scope > p').textContent,
    code: cite.querySelector('code').textContent,
    link: cite.querySelector(':scope > p a').getAttribute('href'),
  }));

// Every page is visited once without JavaScript.
const without = new Map();
test.before(async () => {
  await eachPage(site, all, { javaScriptEnabled: false }, async (name, page) => {
    const seen = { cites: await page.$$eval('details.cite', citations), values: await page.locator('a.value').allTextContents(), pictures: [] };
    for (const [width, kinds] of [[1440, ['.wide-only', '.narrow-only']], [390, ['.narrow-only', '.wide-only']]]) {
      if (!withFigures.includes(name)) continue;
      await resize(page, width);
      seen.pictures.push(...(await page.$$eval('figure.figure', pictures, kinds)));
    }
    without.set(name, seen);
  });
});

test('without JavaScript every chart and table is there, one picture at a time', () => {
  const rowsOf = kept((file) => JSON.parse(readFileSync(file, 'utf8')).datasets.rows);
  for (const [name, seen] of without) {
    for (const { size, isOtherSeen, roles, title, description, specification, marks } of seen.pictures) {
      assert.ok(size[0] > 200 && size[1] > 60, `${name}: no chart, but ${size} px`);
      assert.equal(isOtherSeen, false, name);
      assert.equal(roles[0], roles[1], name);
      assert.ok(title.length > 10, `${name}: ${title}`);
      assert.match(title + description, /\d/, `${name}: its title and its description say no number`);
      const rows = rowsOf(linked(name, specification));
      // A figure of machines has rows that are ticks, lines and names, and may show one machine.
      const shown = rows.filter(({ who }) => who === undefined || who === 'here' || who === 'other').length;
      assert.ok(shown === 0 ? marks >= Math.min(3, rows.length) : marks >= Math.min(3, shown), `${name}: ${marks} marks for ${shown} rows`);
    }
    if (!withFigures.includes(name)) continue;
    assert.ok(seen.pictures.length > 1, `${name} has no picture`);
    for (const value of seen.values) assert.match(value, /^(<?-?\d{1,3}(,\d{3})*(\.\d+)?(×| (ns|µs|ms|s|B|KiB|MiB|GiB))?|about as)$/, name);
  }
});

/** A figure of each shape, with its page. */
const LIVE = [
  ['what-a-hop-over-a-socket-costs', 'socket-dots'],
  ['why-pinning-helps', 'pinning-stack'],
  ['how-many-participants', 'hops-sweep'],
  ['single-laps', 'laps-ecdf'],
];

test('a live chart is drawn from our own copy of Vega, and only when somebody asks', async () => {
  for (const width of [390, 768, 1440]) {
    for (const [name, id] of LIVE) {
      const { page, errors, foreign, close } = await open(`switch-cost/${name}.html`, { width });
      assert.equal(await page.evaluate(() => 'vega' in window), false, 'Vega was loaded though nobody asked');
      const figure = page.locator(`#${id}`);
      await figure.locator('button.explore').click();
      await figure.locator('.vega-embed svg.marks').waitFor();
      assert.equal(await figure.locator('.picture').first().isVisible(), false, id);
      assert.ok((await wider(page)) <= 0, `${id}: ${await wider(page)} px too wide on ${width}`);
      assert.match(await figure.locator('[role="graphics-document"]').getAttribute('aria-label'), /The table of [a-z-]+ has every number/, id);
      assert.ok(await figure.evaluate((figure) => figure.contains(document.activeElement)), `${id}: whoever came by key is sent elsewhere`);
      // A phone has no pointer to hover with.
      if (width < 1000) {
        await close();
        continue;
      }
      const mark = figure.locator('.vega-embed .mark-symbol path, .vega-embed .mark-rect path').first();
      await mark.scrollIntoViewIfNeeded();
      const { x, y, width: w, height: h } = await mark.boundingBox();
      // Two moves: the first one enters the mark, the second one is over it.
      for (const step of [1, 0]) await page.mouse.move(x + w / 2 - step, y + h / 2);
      await page.locator('#vg-tooltip-element.visible').waitFor({ timeout: 8000 });
      const tooltip = await page.locator('#vg-tooltip-element').textContent();
      assert.match(tooltip, /(median|size)[\d.,]+ (ns|µs|ms|s)(95 % interval|$)/, `${id}: a number without its unit`);
      assert.deepEqual([errors, foreign], [[], []]);
      await close();
    }
  }
});

test('every figure and every claim can be cited with its machine, and the citation leads back to it', () => {
  const idsOf = kept((file) => new Set([...readFileSync(file, 'utf8').matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)));
  for (const [name, { cites }] of without) {
    for (const { text, code, link } of cites) {
      // A claim that was not measured has a machine, and no day.
      assert.match(text, /Threads or tasks\?.*(\d{4}-\d\d-\d\d|not measured|\? [a-z])|not measured.*Threads or tasks\? [a-z]/s, `${name}: ${text}`);
      assert.match(code, /^@misc\{threads-or-tasks-[\w-]+, title = \{/);
      const [target, anchor] = link.split('#');
      const file = target ? linked(name, target) : join(site, name);
      assert.ok(idsOf(file).has(anchor), `${name}: ${anchor}`);
    }
  }
});

test('pages stay light: at most 250 KB compressed before live charts', () => {
  for (const name of all) {
    const size = gzipSync(readFileSync(join(site, name))).length;
    assert.ok(size <= 250_000, `${name} has ${size} bytes`);
  }
});

/** The median over rounds of the time of one operation, in nanoseconds, of the cell that a record calls so. */
function medianOf(record, isCell) {
  const median = (values) => {
    const sorted = values.toSorted((a, b) => a - b);
    return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
  };
  const lines = record.trim().split('\n').map((line) => JSON.parse(line));
  const { cells } = lines[0].header;
  const runs = lines.map(({ run }) => run).filter(Boolean);
  const complete = (round) => runs.filter((run) => run.round === round).length === cells.length;
  const own = runs.filter((run) => isCell(cells[run.cell]) && complete(run.round));
  const each = own.map(({ observation: { samples } }) => median(samples.elapsed_ns.map((ns, index) => ns / samples.operations[index])));
  return { rounds: own.length, median: median(each) };
}

test('what the picture and the table say is what the record says', async () => {
  const name = 'switch-cost/what-a-hop-over-a-socket-costs.html';
  const { page, close } = await open(name, { javaScriptEnabled: false });
  const shown = await page.locator('#socket-thread-socket-hops-500-one-cpu td').first().textContent();
  const csv = readFileSync(linked(name, await page.locator('#socket a[href$=".csv"]').getAttribute('href')), 'utf8');
  const heads = csv.split('\n')[0].split(',');
  const row = csv.split('\n').find((line) => line.startsWith('"thread-socket[hops=500, one-cpu]"'));
  // Two of its fields are quoted, and one of these has a comma.
  const fields = row.match(/"[^"]*"|[^,]+|(?<=,)(?=,)/g);
  const ofCsv = (head) => Number(fields[heads.indexOf(head)]);
  const record = readFileSync(linked(name, await page.locator('#socket a[href$=".jsonl"]').getAttribute('href')), 'utf8');
  const isCell = ({ program, placement, condition }) => program === 'thread-socket' && placement === 'one-cpu' && !condition;
  const { rounds, median } = medianOf(record, isCell);
  assert.ok(rounds >= 20, 'the reference machine was measured in full');
  assert.equal(ofCsv('rounds'), rounds);
  assert.ok(ofCsv('sessions') > 1, 'the number is a median over sessions');
  const isAlike = (value, other, what) => assert.ok(Math.abs(value / other - 1) < 1e-9, `${what}: ${value} and ${other}`);
  isAlike(ofCsv('median_ns_session'), median, 'the session in the CSV, and in the record');
  const printed = ofCsv('median_ns');
  assert.ok(ofCsv('median_ns_low') <= Math.min(printed, median) && Math.max(printed, median) <= ofCsv('median_ns_high'), row);
  assert.equal(Number.parseFloat(shown), Number((printed / 1000).toPrecision(3)), 'the table, in µs');
  // The picture has a dot for each row, on a scale that its axis names.
  const figure = page.locator('#socket-dots');
  const specification = await figure.locator('a[href$=".vl.json"]').getAttribute('href');
  const { rows } = JSON.parse(readFileSync(linked(name, specification), 'utf8')).datasets;
  isAlike(rows.find(({ name, who }) => name === 'threads over a socket, on one CPU' && who === 'here').median * 1000, printed, 'the chart, and the CSV');
  const dots = rows.filter(({ who }) => who === 'here');
  assert.equal(await figure.locator('.wide-only .mark-symbol path[fill^="var(--c-"]').count(), dots.length);
  assert.match(await figure.locator('.wide-only svg').textContent(), /µs per hand-over/);
  await close();
});

test('every link leads somewhere, and no page has an id twice', () => {
  assert.deepEqual(deadLinks(site), []);
});

test('no Markdown is left in a page', () => {
  const left = pages(site).filter((name) => /\]\([\w./-]+\.md/.test(readFileSync(join(site, name), 'utf8')));
  assert.deepEqual(left, []);
});

test('a number in a sentence leads to its row', () => {
  const text = (name) => readFileSync(join(site, name), 'utf8');
  const rowsOf = new Map(pages(site).map((name) => [name, new Set([...text(name).matchAll(/<tr [^<>]*id="([^"]+)"/g)].map(([, id]) => id))]));
  const links = pages(site).flatMap((name) => [...text(name).matchAll(/<a class="value" href="([^"]+)"/g)].map(([, link]) => [name, ...link.split('#')]));
  const others = links.filter(([name, path, row]) => !rowsOf.get(path ? normalize(join(dirname(name), path)) : name)?.has(row));
  assert.ok(links.length > 2000 && others.length <= 0.02 * links.length, `${others.length} of ${links.length} lead elsewhere: ${others.slice(0, 9).join('; ')}`);
});

test('a number has the same interval in a sentence and in its row', () => {
  const texts = new Map(pages(site).map((name) => [name, readFileSync(join(site, name), 'utf8')]));
  const others = [];
  let alike = 0;
  for (const [name, text] of texts) {
    for (const [, path, id, value, interval] of text.matchAll(/<a class="value" href="([^"#]*)#([^"]+)" title="([^["]+) \[([^\]"]+)\];/g)) {
      const page = texts.get(path ? normalize(join(dirname(name), path)) : name);
      const row = page?.match(new RegExp(`<tr id="${id}">.*?</tr>`, 's'))?.[0];
      // Two columns may read alike: one of them is the number's.
      const own = row?.split(`<td>${value} <span class="interval">`).slice(1).map((rest) => rest.split('</span>')[0]) ?? [];
      if (own.includes(interval)) alike += 1;
      else if (own.length > 0) others.push(`${name}: ${value} [${interval}], in its row ${own}`);
    }
  }
  assert.ok(alike > 100 && others.length === 0, `${alike} alike; ${others.length} differ: ${others.slice(0, 9).join('; ')}`);
});

test('colours of figures stand out from the page in every theme', async () => {
  const luminance = (channels) => {
    const [r, g, b] = channels.map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const theme of ['light', 'rust', 'coal', 'navy', 'ayu']) {
    const { page, close } = await open('switch-cost.html', { theme });
    const colours = await page.evaluate(() => {
      const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      const channels = (colour) => {
        if (!CSS.supports('color', colour)) throw new Error(`"${colour}" is no colour`);
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
      };
      const style = getComputedStyle(document.documentElement);
      const names = ['thread', 'task', 'executor', 'baseline', 'coroutine'];
      return { page: channels(getComputedStyle(document.documentElement).backgroundColor), kinds: names.map((name) => [name, channels(style.getPropertyValue(`--c-${name}`).trim())]) };
    });
    for (const [name, channels] of colours.kinds) {
      const [light, dark] = [luminance(channels), luminance(colours.page)].sort((a, b) => b - a);
      const contrast = (light + 0.05) / (dark + 0.05);
      assert.ok(contrast >= 3, `${theme}: ${name} has a contrast of ${contrast.toFixed(2)}`);
    }
    await close();
  }
});

test('letters stand out from the page in the other themes too', async () => {
  for (const theme of ['rust', 'coal', 'ayu']) {
    for (const name of ['switch-cost.html', 'claims.html']) {
      const { page, close } = await open(name, { theme });
      assert.deepEqual(await barriers(page, { runOnly: ['color-contrast'] }), [], `${name} in ${theme}`);
      await close();
    }
  }
});

test("each row of the front page's figure leads to its numbers", () => {
  const text = (name) => readFileSync(join(site, name), 'utf8');
  const ladder = text('introduction.html').match(/id="ladder"[\s\S]*?<div class="picture wide-only">([\s\S]*?<\/svg>)/)[1];
  const links = [...ladder.matchAll(/<a href="([^"]+)"><text/g)].map(([, href]) => href);
  assert.ok(links.length >= 6, `${links.length} rows lead elsewhere`);
  const leads = (link) => {
    const [path, row] = link.split('#');
    return text(path).includes(`<tr id="${row}"`);
  };
  assert.deepEqual(links.filter((link) => !leads(link)), []);
});

test('the first key leads past the sidebar to the text', async () => {
  const { page, close } = await open('switch-cost.html', { javaScriptEnabled: true });
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the text');
  assert.ok((await page.locator('.skip').boundingBox()).y >= 0, 'it is out of sight');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  assert.ok(await page.evaluate(() => document.querySelector('main').contains(document.activeElement)));
  await close();
});

test('the arrow keys scroll a table and leave the page where it is', async () => {
  const { page, close } = await open('switch-cost/what-a-hop-over-a-socket-costs.html#socket', { width: 390 });
  const address = page.url();
  // Some parts of a table fit a phone.
  const wider = await page.locator('#socket .wide').evaluateAll((boxes) => boxes.findIndex((box) => box.scrollWidth > box.clientWidth));
  await page.locator('#socket .wide').nth(wider).focus();
  for (let press = 0; press < 5; press++) await page.keyboard.press('ArrowRight');
  await page.waitForFunction((wider) => document.querySelectorAll('#socket .wide')[wider].scrollLeft > 0, wider);
  assert.equal(page.url(), address);
  await close();
});

test('machines are sorted by the column whose head is chosen, upwards and then downwards', async () => {
  const { page, close } = await open('machines.html');
  const head = page.locator('table.sortable th', { hasText: 'a bare write and read' });
  const numbers = () => page.$$eval('table.sortable tbody tr', (rows) => rows.map((row) => row.cells[1].dataset.sort).filter(Boolean).map(Number));
  const sorted = (await numbers()).sort((one, other) => one - other);
  assert.ok(sorted.length > 2, String(sorted));
  for (const [direction, wanted] of [['ascending', sorted], ['descending', [...sorted].reverse()]]) {
    await head.locator('button').click();
    assert.equal(await head.getAttribute('aria-sort'), direction);
    assert.deepEqual(await numbers(), wanted);
  }
  await page.locator('table.sortable th', { hasText: 'kernel' }).last().locator('button').press('Enter');
  assert.equal(await page.locator('table.sortable [aria-sort]').count(), 1);
  await close();
});

/** A number that is missing, with its reason. The reference machine may lack none, so it is taken from what tally prints elsewhere. */
function missing() {
  const printed = readFileSync(new URL('../../benches-src/tally/tests/whole/snapshots/whole__forms__calculator-page.snap', import.meta.url), 'utf8');
  return printed.match(/<span class="missing" tabindex="0"[^>]*>[^<]*<\/span><span class="unseen reason">[^<]*<\/span>/)[0];
}

test('of the machines a few are chosen by a term or by several', async () => {
  const { page, close } = await open('machines.html');
  const names = () => page.$$eval('table.sortable tbody tr', (rows) => rows.filter((row) => row.offsetHeight > 0).map((row) => row.cells[0].textContent));
  const all = await names();
  const field = page.getByRole('searchbox', { name: 'Show only rows' });
  for (const [terms, wanted] of [
    ['zen4', (name) => name.includes('zen4')],
    [' AMX, zen4 ,', (name) => /amx|zen4/.test(name)],
    ['no such machine', () => false],
    ['', () => true],
  ]) {
    await field.fill(terms);
    assert.deepEqual(await names(), all.filter(wanted), terms);
  }
  assert.ok(all.length > 3, String(all));
  await close();
});

test('why a number is missing widens no page, however far to the right it stands in a table', async () => {
  const { page, close } = await open('method.html', { width: 390 });
  const table = `<div class="table-wrapper"><table><tr>${'<th>unbreakable</th>'.repeat(8)}<td>${missing()}</td></tr></table></div>`;
  await page.evaluate((table) => document.querySelector('main').insertAdjacentHTML('beforeend', table), table);
  const scrolls = (box) => box.scrollWidth > box.clientWidth;
  assert.ok(await page.locator('.table-wrapper').last().evaluate(scrolls), 'the table is wider than the screen');
  assert.ok((await wider(page)) <= 0, `the page becomes ${await wider(page)} px wider than the screen`);
  await close();
});

test('why a number is missing is shown to whoever comes to it by key', async () => {
  const words = missing();
  const { page, close } = await open('method.html', { width: 390 });
  await page.evaluate((words) => document.querySelector('main p').insertAdjacentHTML('beforeend', words), words);
  const height = () => page.locator('main .reason').evaluate((reason) => reason.getBoundingClientRect().height);
  assert.ok((await height()) <= 1, 'it is shown before anybody asks');
  await page.locator('main .missing[tabindex]').focus();
  assert.ok((await height()) > 10, 'it is not shown');
  assert.ok((await wider(page)) <= 0, `the page becomes ${await wider(page)} px wider than the screen`);
  await close();
});

test('commands and citations can be copied, and a citation says where this copy of the book lies', async () => {
  const { page, close } = await open('switch-cost/what-a-hop-over-a-socket-costs.html#socket');
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => (window.copied = text) } }));
  const cite = page.locator('#socket .cite');
  await cite.locator('> summary').click();
  await cite.getByRole('button', { name: 'Copy this citation' }).click();
  assert.ok((await page.evaluate(() => window.copied)).endsWith(page.url()));
  await page.locator('#socket').getByRole('button', { name: 'Copy this command' }).click();
  assert.equal(await page.evaluate(() => window.copied), 'cargo tally table socket');
  const row = page.locator('#socket-thread-socket-hops-500-one-cpu');
  await row.getByRole('button', { name: 'Copy a citation' }).click();
  const address = page.url().split('#')[0];
  assert.match(await page.evaluate(() => window.copied), /^threads over a socket: [\d.]+ µs \[[\d.–]+\]( \([^)]*\))?\. .*Machine amd-epyc/);
  assert.ok((await page.evaluate(() => window.copied)).endsWith(`${address}#socket-thread-socket-hops-500-one-cpu`));
  await close();
});

test('on paper the wide picture is shown, and no table sticks out', async () => {
  // As wide as A4 between mdBook's margins.
  const { page, close } = await open('print.html', { width: 718, javaScriptEnabled: false });
  await page.emulateMedia({ media: 'print' });
  const out = await page.$$eval('main .wide table', (tables) => {
    const paper = document.querySelector('main').clientWidth;
    return tables.filter((table) => table.scrollWidth > paper + 1).map((table) => `${table.closest('[id]')?.id}: ${table.scrollWidth} of ${paper}`);
  });
  assert.deepEqual(out, []);
  const figure = page.locator('figure.figure').first();
  assert.equal(await figure.locator('.wide-only svg').isVisible(), true);
  assert.equal(await figure.locator('.narrow-only svg').isVisible(), false);
  await close();
});
