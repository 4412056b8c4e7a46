// Bounds that were promised, printed as they are today: how long a rebuild takes, what `tally check` needs, how soon the first screen answers.
// A time fails beyond twice its bound, since other machines are slower; what a browser counts fails beyond the bound itself.

import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { bound, boundsOfCheck, secondsOfBuild } from './bound.mjs';
import { opener } from './browser.mjs';
import { build, copyOfCheckout } from './site.mjs';

const checkout = copyOfCheckout();
const reference = { effort: 'never', show: 'reference' };
const { status, output, site } = build(checkout, reference);
assert.equal(status, 0, output);
const open = opener(site);

test('a build with nothing changed, and one after a changed sentence', () => {
  bound('a build with nothing changed', secondsOfBuild(checkout, reference), 2, 's', { slack: 2 });
  appendFileSync(join(checkout, 'book/src/method.md'), '\nA new sentence.\n');
  bound('a build after a changed sentence', secondsOfBuild(checkout, reference), 2.5, 's', { slack: 2 });
});

test('tally check: its time, and its memory', async () => {
  await boundsOfCheck('tally check', checkout, { seconds: 3, mebibytes: 200 });
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
