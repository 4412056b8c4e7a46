// Builds the site that is published: `node ci/publish.mjs [MACHINE…]`. It has the reference machine's numbers; below site/machine/NAME
// stand the same pages with those of every other machine, or of those that are named. Each page has a link to itself on each of them.
// Where the site will be is said as for any build: by address in book.toml, or by mdBook's
// variable.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, otherMachines, pages } from './site.mjs';

/** Where the pages of a machine stand below the site; the reference machine's are the site's own. */
const folderOf = (machine) => (machine === 'reference' ? '' : join('machine', machine));

/** The choice of a machine, for below the line that says whose numbers a page shows. */
function choice(site, machines, page, own) {
  const from = dirname(join(site, folderOf(own), page));
  const link = (machine) => `<li><a href="${relative(from, join(site, folderOf(machine), page))}">${machine}</a></li>`;
  const others = machines.filter((machine) => machine !== own && existsSync(join(site, folderOf(machine), page)));
  return `<details class="machines"><summary>The same page with another machine's numbers</summary><ul>${others.map(link).join('')}</ul></details>`;
}

const ADDRESS = 'MDBOOK_PREPROCESSOR__CMDRUN__ADDRESS';

/** Where the site will be published, with a slash at its end, or nothing. */
function addressOf(checkout) {
  const written = readFileSync(join(checkout, 'book.toml'), 'utf8').match(/^address = "(.*)"/m)?.[1];
  return (process.env[ADDRESS] ?? written ?? '').replace(/([^/])\/*$/, '$1/');
}

/** Builds all of them in this checkout. */
export function publish(checkout, others) {
  const machines = ['reference', ...others];
  const [site, address] = [join(checkout, 'site'), addressOf(checkout)];
  for (const machine of machines) {
    const folder = folderOf(machine);
    const { status, output } = build(checkout, { effort: 'never', show: machine }, {
      MDBOOK_BUILD__BUILD_DIR: join('site', folder),
      [ADDRESS]: address && address + folder,
    });
    if (status !== 0) throw new Error(`the book cannot be built with the numbers of ${machine}: ${output}`);
  }
  for (const own of machines) {
    const folder = join(site, folderOf(own));
    for (const page of pages(folder).filter((page) => !page.startsWith('machine/'))) {
      const html = readFileSync(join(folder, page), 'utf8');
      writeFileSync(join(folder, page), html.replace(/<p class="shown".*?<\/p>/s, (shown) => shown + choice(site, machines, page, own)));
    }
  }
  return site;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const checkout = join(dirname(fileURLToPath(import.meta.url)), '..');
  const named = process.argv.slice(2);
  console.log(publish(checkout, named.length > 0 ? named : otherMachines(checkout)));
}
