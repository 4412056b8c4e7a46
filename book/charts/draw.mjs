// Draws charts, each twice, for wide pages and for phones. Standard input: what tally's print/charts.rs calls a request, as a line of JSON.
// Standard output, a line for each: { "wide": svg, "narrow": svg }, with title, description, and ids of their own.
// A line { "card": svg, "to": path } puts the same picture as PNG there, in letters of our own, since a machine may have none.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import * as vega from 'vega';
import * as vegaLite from 'vega-lite';

const entity = (character) => `&#${character.codePointAt(0)};`;
const escaped = (text) => text.replace(/[<>&"']/g, entity);

// Nothing can measure text here, and Vega's own guess is that a character is 0.8 of its font's size wide. In the fonts of these pages it is about
// half, so that a picture had much room for nothing, and shrank with it on a phone. This is enough for a wide font too.
vega.textMetrics.width = ({ fontSize, limit }, text) => {
  const { length } = `${text ?? ''}`.trim();
  const width = length && (fontSize ?? 11) * (0.5 + 0.55 * length);
  return limit > 0 ? Math.min(limit, width) : width;
};

/** The picture of one specification of a request; `part` keeps the ids of the two pictures of a figure apart. */
async function draw(request, part) {
  vega.resetSVGDefIds();
  const view = new vega.View(vega.parse(vegaLite.compile(request[part]).spec), { renderer: 'none' });
  const svg = await view.toSVG();
  await view.finalize();
  const prefix = `${request.prefix}-${part}`;
  const titles = `<title id="${prefix}-title">${escaped(request.title)}</title><desc id="${prefix}-desc">${escaped(request.description)}</desc>`;
  // What is one picture to those who hear it would hide the links in it.
  const role = /<a\b/.test(svg) ? 'group' : 'img';
  return svg
    // mdBook, which turns the way to a source into that to its page, knows this name.
    .replace(/<a xlink:href=/g, '<a href=')
    .replace(/ aria-hidden="true"(?=[^<>]*><a href=)/g, '')
    .replace(/\bid="(?!chart)/g, `id="${prefix}-`)
    .replace(/url\(#/g, `url(#${prefix}-`)
    .replace(/<svg /, `<svg role="${role}" aria-labelledby="${prefix}-title ${prefix}-desc" `)
    .replace(/<svg [^>]*>/, (tag) => tag + titles)
    .replace(/\s*\n\s*/g, ' ')
    // What stands in a picture comes from records as well: in braces it would be a directive of mdBook's.
    .replace(/[{}]/g, entity);
}

let fonts;

/** A picture as PNG, by a renderer that is loaded when it is first needed. */
async function png(svg) {
  const { initWasm, Resvg } = await import('@resvg/resvg-wasm');
  if (!fonts) {
    const packaged = (path) => readFileSync(new URL(`node_modules/${path}`, import.meta.url));
    await initWasm(packaged('@resvg/resvg-wasm/index_bg.wasm'));
    fonts = ['', '-Bold'].map((weight) => packaged(`dejavu-fonts-ttf/ttf/DejaVuSans${weight}.ttf`));
  }
  const font = { fontBuffers: fonts, loadSystemFonts: false, defaultFontFamily: 'DejaVu Sans', sansSerifFamily: 'DejaVu Sans' };
  return new Resvg(svg, { font }).render().asPng();
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.card) {
    // Written beside and moved, since builds may run side by side.
    const beside = `${request.to}.${process.pid}`;
    writeFileSync(beside, await png(request.card));
    renameSync(beside, request.to);
    process.stdout.write(`${JSON.stringify({ written: request.to })}\n`);
    continue;
  }
  process.stdout.write(`${JSON.stringify({ wide: await draw(request, 'wide'), narrow: await draw(request, 'narrow') })}\n`);
}
