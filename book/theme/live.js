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
    (loading ??= ['vega', 'vega-lite', 'vega-embed'].reduce(
      (before, name) => before.then(() => script(`generated/vega/${name}.min.js`)),
      Promise.resolve(),
    ));

  async function explore(figure, button) {
    button.disabled = true;
    await Promise.all([vega(), script(figure.dataset.live)]);
    const both = window.charts[figure.dataset.chart];
    const narrow = window.matchMedia('(max-width: 620px)').matches;
    const live = document.createElement('div');
    // `ast` interprets expressions, so that pages may forbid eval; `svg` follows the theme as the still picture does.
    await window.vegaEmbed(live, narrow ? both.narrow : both.wide, {
      ast: true,
      renderer: 'svg',
      actions: { export: true, source: true, compiled: false, editor: false },
    });
    figure.querySelectorAll('.picture').forEach((picture) => (picture.hidden = true));
    figure.prepend(live);
    button.remove();
  }

  for (const figure of document.querySelectorAll('figure[data-live]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'explore';
    button.textContent = 'Show each point’s numbers';
    button.onclick = () =>
      explore(figure, button).catch((error) => {
        button.textContent = `The live chart failed: ${error.message}`;
      });
    figure.querySelector('figcaption').before(button);
  }
})();
