// The site as it is published, with the pages of every machine. ci/test builds the book with one of them, drawn at random.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { bound } from '../bound.mjs';
import { publish } from '../publish.mjs';
import { ADDRESS, ANSWERS, copyOfCheckout, deadLinks, otherMachines, pages } from '../site.mjs';

const checkout = copyOfCheckout();
const others = otherMachines(checkout);
process.env.MDBOOK_PREPROCESSOR__CMDRUN__ADDRESS = ADDRESS;
const site = publish(checkout, others);

test('the book is built with the numbers of every machine, and each page leads to itself on all others', () => {
  assert.deepEqual(deadLinks(site), []);
  for (const machine of others) {
    const folder = join(site, 'machine', machine);
    const [, picture] = readFileSync(join(folder, 'index.html'), 'utf8').match(/"og:image" content="([^"]+)"/);
    assert.ok(existsSync(picture.replace(ADDRESS, site)), `${machine}: a preview finds no picture at ${picture}`);
    for (const page of pages(folder)) {
      const html = readFileSync(join(folder, page), 'utf8');
      const links = [...(html.match(/<details class="machines">.*?<\/details>/s)?.[0] ?? '').matchAll(/href="([^"]+)"/g)];
      if (html.includes('class="shown"')) assert.equal(links.length, others.length, `${machine}, ${page}`);
    }
  }
});

test('an answer is as short on every machine', () => {
  const answer = /class="lead">(.*?)<\/p>/s;
  const words = (html) => html.replace(/<[^>]+>/g, '').trim().split(/\s+/).length;
  const longest = { words: 0 };
  for (const machine of others) {
    for (const name of ANSWERS) {
      const page = readFileSync(join(site, 'machine', machine, name), 'utf8');
      const own = words(page.match(answer)[1]);
      if (own > longest.words) Object.assign(longest, { words: own, where: `${machine}, ${name}` });
    }
  }
  bound(`words of an answer, at most (${longest.where})`, longest.words, 60, 'words');
});
