// Live detail for charts, for who asks: a button under each picture loads our own copy of Vega and draws the same rows again,
// with what lies under the pointer. Without this script nothing is missing.
(() => {
  'use strict';

  const script = (source) =>
    new Promise((loaded, failed) => {
      const element = document.createElement('script');
      element.src = source;
      element.onload = loaded;
      element.onerror = () => failed(new Error(`${source} cannot be loaded`));
      document.head.append(element);
    });

  let loading;
  const vega = () =>
    (loading ??= ['vega', 'vega-lite', 'vega-embed']
      .reduce((before, name) => before.then(() => script(`${path_to_root}generated/vega/${name}.min.js`)), Promise.resolve())
      .catch((error) => {
        // Who asks again gets another try.
        loading = undefined;
        throw error;
      }));

  async function explore(figure, button) {
    button.disabled = true;
    await Promise.all([vega(), script(figure.dataset.live)]);
    const both = window.charts[figure.dataset.chart];
    const narrow = window.matchMedia('(max-width: 620px)').matches;
    const live = document.createElement('div');
    // `ast` interprets expressions, so that pages may forbid eval; `svg` follows the theme as the still picture does.
    const { view } = await window.vegaEmbed(live, narrow ? both.narrow : both.wide, {
      ast: true,
      renderer: 'svg',
      // A picture that is saved would lack the page's colours: `cargo tally chart … --standalone` draws one that has them.
      actions: { export: false, source: true, compiled: false, editor: false },
    });
    figure.querySelectorAll('.picture').forEach((picture) => (picture.hidden = true));
    // Its title stays above it.
    (figure.querySelector('.picture') ?? figure.firstChild).before(live);
    // Whoever came by key goes on where the button was.
    live.tabIndex = -1;
    live.focus({ preventScroll: true });
    button.remove();
    live.querySelector('summary')?.setAttribute('aria-label', 'See the specification of this chart');
    // For who wants to look into it from the browser's console.
    live.view = view;
  }

  for (const figure of document.querySelectorAll('figure[data-live]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'explore';
    button.textContent = 'Show each point’s numbers';
    button.onclick = () =>
      explore(figure, button).catch((error) => {
        button.textContent = `The live chart failed: ${error.message}. Try again`;
        button.disabled = false;
      });
    figure.querySelector('figcaption').before(button);
  }

  // What an address leads to is open, with all that it lies in; a claim's own card and a program's listing too.
  function openTarget() {
    let target;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      // An address may hold anything.
    }
    if (!target) return;
    const own = target.matches('.claim') ? [...target.querySelectorAll(':scope > details')] : [];
    if (target.nextElementSibling?.matches('details.listing')) own.push(target.nextElementSibling);
    for (let outer = target; outer; outer = outer.parentElement) if (outer.matches('details')) own.push(outer);
    const closed = own.filter((details) => !details.open);
    for (const details of closed) details.open = true;
    if (closed.length) target.scrollIntoView();
  }
  window.addEventListener('hashchange', openTarget);
  openTarget();

  // An old address names the page on which a table, a figure, a claim or a program once stood. Rows begin with their experiment's name.
  async function followMoved() {
    const anchor = location.hash.slice(1);
    if (!/^[\w-]+$/.test(anchor) || document.getElementById(anchor)) return;
    await script(`${path_to_root}generated/places.js`);
    let name = anchor;
    while (name && !Object.hasOwn(window.places, name)) name = name.slice(0, Math.max(0, name.lastIndexOf('-')));
    if (!name) return;
    const there = new URL(`${path_to_root}${window.places[name]}#${anchor}`, location);
    // What is there no more was a figure or a row of an experiment that is.
    if (there.pathname === location.pathname) there.hash = name;
    location.replace(there);
  }
  // What mdBook itself redirects comes first.
  window.addEventListener('load', () => followMoved().catch(() => {}));

  // mdBook turns pages by the arrow keys; in a table that scrolls they are to scroll it.
  for (const table of document.querySelectorAll('.wide')) {
    table.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') event.stopPropagation();
    });
  }

  // A table of machines is sorted by the column whose head is chosen: once upwards, again downwards. What has no number there comes last.
  function sortBy(table, head) {
    const direction = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', direction > 0 ? 'ascending' : 'descending');
    const cellOf = (row) => row.cells[head.cellIndex];
    const rows = [...table.tBodies[0].rows];
    const areNumbers = rows.some((row) => cellOf(row).dataset.sort);
    rows.sort((one, other) => {
      const [here, there] = [one, other].map(cellOf);
      if (!areNumbers) return direction * here.textContent.localeCompare(there.textContent, 'en', { numeric: true });
      const [a, b] = [here, there].map((cell) => (cell.dataset.sort ? Number(cell.dataset.sort) : NaN));
      return isNaN(a) - isNaN(b) || direction * (a - b || 0);
    });
    table.tBodies[0].append(...rows);
  }
  // Of many rows a few can be compared: those that have one of the terms that somebody writes, with commas between them.
  function offerChoice(table) {
    const field = document.createElement('input');
    field.type = 'search';
    field.className = 'choose';
    field.placeholder = 'Only rows with …, …';
    field.setAttribute('aria-label', 'Show only rows that have one of these terms, with commas between them');
    field.oninput = () => {
      const terms = field.value.toLowerCase().split(',').map((term) => term.trim()).filter(Boolean);
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = terms.length > 0 && !terms.some((term) => text.includes(term));
      }
    };
    table.parentElement.before(field);
  }
  for (const table of document.querySelectorAll('table.sortable')) {
    offerChoice(table);
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'sort';
      button.title = 'Sort by this column';
      button.append(...head.childNodes);
      button.onclick = () => sortBy(table, head);
      head.append(button);
    }
  }

  // A citation is for elsewhere: its link says where this copy of the book lies, and a button copies all of it. So for commands.
  function offerCopy(element, what) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'copy';
    button.setAttribute('aria-label', `Copy ${what}`);
    // A page that was not fetched by https has no clipboard.
    const copy = async () => navigator.clipboard.writeText(element.textContent.trim());
    button.onclick = async () => {
      button.textContent = await copy().then(() => 'copied', () => 'could not copy');
      button.setAttribute('aria-label', `${button.textContent}: ${what}`);
    };
    element.after(' ', button);
  }
  for (const citation of document.querySelectorAll('.cite p')) {
    const link = citation.querySelector('a');
    link.textContent = link.href;
    offerCopy(citation, 'this citation');
  }
  // A row's citation is its table's, with the row's number first and the row's own address.
  function citationOf(row) {
    const name = row.querySelector('th').firstElementChild?.matches('a') ? row.querySelector('th a').textContent : row.querySelector('th').firstChild.textContent;
    const cell = row.querySelector('td');
    const citation = row.closest('.table').querySelector('.cite > p').cloneNode(true);
    citation.querySelectorAll('a, button').forEach((own) => own.remove());
    const part = (selector, [before, after]) => {
      const own = cell.querySelector(selector)?.textContent;
      return own ? ` ${before}${own}${after}` : '';
    };
    // The number, its interval, and what must stand beside it.
    const said = cell.firstChild.textContent.trim() + part('.interval', '[]') + part('.missing', '()');
    return `${name.trim()}: ${said}. ${citation.textContent.trim()} ${location.href.split('#')[0]}#${row.id}`;
  }
  // What another machine says in a gap of a table is none of that table's own.
  for (const row of document.querySelectorAll('.table tr[id]:not(.elsewhere)')) {
    const head = row.querySelector('th');
    if (!head || !row.querySelector('td') || !row.closest('.table').querySelector('.cite > p')) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'pilcrow';
    button.textContent = '¶';
    button.title = 'Copy a citation of this row';
    button.setAttribute('aria-label', `Copy a citation: ${head.textContent}`);
    button.onclick = () => navigator.clipboard.writeText(citationOf(row)).then(() => (button.textContent = '✓'), () => (button.textContent = '✗'));
    head.append(' ', button);
  }
  for (const command of document.querySelectorAll('.small .command')) offerCopy(command, 'this command');
})();
