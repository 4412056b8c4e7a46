// The browser in which tests look at a built site, and what pages complain about in it.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

// Under the names by which ci/need looks for it.
const names = ['chromium', 'chromium-browser', 'google-chrome'];
const path = process.env.PATH.split(':').flatMap((folder) => names.map((name) => join(folder, name)));
const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];

// Started by the first page that is opened.
let browser;
const start = () => (browser ??= chromium.launch({ executablePath: path.find((path) => existsSync(path)), args }));
after(async () => (await browser)?.close());

/** A window of its own, in which a site's pages are looked at; with what a page complained about, and which other hosts it asked. */
async function newWindow(site, { width = 1440, height = 900, theme = 'light', ...more } = {}) {
  const context = await (await start()).newContext({ viewport: { width, height }, ...more });
  const page = await context.newPage();
  const errors = [];
  const foreign = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => /^(file|data|blob):/.test(request.url()) || foreign.push(request.url()));
  await page.addInitScript((theme) => {
    localStorage.setItem('mdbook-theme', theme);
    localStorage.setItem('mdbook-sidebar', 'hidden');
  }, theme);
  const go = async (name) => {
    const [file, anchor] = name.split('#');
    await page.setViewportSize({ width, height });
    await page.goto(pathToFileURL(join(site, file)).href + (anchor === undefined ? '' : `#${anchor}`));
  };
  return { page, errors, foreign, go, close: () => context.close() };
}

/** A way to open a site's pages, each in a window of its own. */
export function opener(site) {
  return async (name, options) => {
    const opened = await newWindow(site, options);
    await opened.go(name);
    return opened;
  };
}

/**
 * Looks at these pages of a site, all in one window: a new one for each would take longer than most
 * looks do. It is low unless they ask for more: a page is laid out as in any other, and hardly
 * painted.
 */
export async function eachPage(site, names, options, look) {
  const { page, errors, foreign, go, close } = await newWindow(site, { height: 60, ...options });
  for (const name of names) {
    await go(name);
    await look(name, page);
    assert.deepEqual([errors, foreign], [[], []], name);
  }
  await close();
}

/** Makes a window so wide, and as high as it is. */
export const resize = (page, width) => page.setViewportSize({ ...page.viewportSize(), width });

/** By how much a page is wider than it may be. mdBook lets nothing stick out of its own frame, so that the document never is. */
export const wider = (page) =>
  page.evaluate(() => {
    const content = document.querySelector('#mdbook-content') ?? document.querySelector('.content');
    return Math.max(content.scrollWidth - content.clientWidth, document.documentElement.scrollWidth - window.innerWidth);
  });

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What keeps people from reading a page's text, as axe finds it, in words. mdBook's own frame is not ours to mend. */
export async function barriers(page, rules = {}) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate((rules) => axe.run('main', { ...rules, resultTypes: ['violations'], preload: false }), rules);
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`);
}
