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
      .reduce((before, name) => before.then(() => script(`generated/vega/${name}.min.js`)), Promise.resolve())
      .catch((error) => {
        // Who asks again gets another try.
        loading = undefined;
        throw error;
      }));

  // A slider goes in steps; beside it stands the number that its step means, which the specification says in words.
  function sayNumbers(live, view) {
    for (const slider of live.querySelectorAll('input[type="range"]')) {
      const words = slider.name.replace(/_step$/, '_words');
      const output = document.createElement('output');
      const say = () => {
        output.textContent = view.signal(words).trim();
        slider.setAttribute('aria-valuetext', output.textContent);
      };
      slider.nextSibling.replaceWith(output);
      view.addSignalListener(words, say);
      say();
    }
  }

  // A worked case of the calculator's table is a place to set its sliders to.
  function offerCases(figure, live, view) {
    for (const head of figure.querySelectorAll('th[data-set]')) {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'explore';
      button.textContent = 'Set so';
      button.setAttribute('aria-label', `Set so: ${head.textContent.trim()}`);
      button.onclick = async () => {
        for (const [signal, value] of Object.entries(JSON.parse(head.dataset.set))) view.signal(signal, value);
        await view.runAsync();
        live.scrollIntoView({ block: 'start' });
        live.focus({ preventScroll: true });
      };
      head.append(' ', button);
    }
  }

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
    figure.prepend(live);
    // Whoever came by key goes on where the button was.
    live.tabIndex = -1;
    live.focus({ preventScroll: true });
    button.remove();
    live.querySelector('summary')?.setAttribute('aria-label', 'See the specification of this chart');
    // For who wants to look into it from the browser's console.
    live.view = view;
    sayNumbers(live, view);
    offerCases(figure, live, view);
  }

  for (const figure of document.querySelectorAll('figure[data-live]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'explore';
    button.textContent = figure.dataset.explore ?? 'Show each point’s numbers';
    button.onclick = () =>
      explore(figure, button).catch((error) => {
        button.textContent = `The live chart failed: ${error.message}. Try again`;
        button.disabled = false;
      });
    // A table that can be explored is long: its button stands above it.
    if (figure.dataset.explore) figure.prepend(button);
    else figure.querySelector('figcaption').before(button);
  }

  // mdBook turns pages by the arrow keys; in a table that scrolls they are to scroll it.
  for (const table of document.querySelectorAll('.wide')) {
    table.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') event.stopPropagation();
    });
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
  for (const command of document.querySelectorAll('.small .command')) offerCopy(command, 'this command');
})();
