// Every page of the published site in one theme, for two tests that run side by side.

import assert from 'node:assert/strict';
import test from 'node:test';
import { barriers, eachPage, resize, wider } from './browser.mjs';
import { EVERYTHING, pages, published } from './site.mjs';

/**
 * No page complains, asks another host, is wider than any screen, or has barriers at this width.
 * What is wrong with a page is wrong in both themes most often: each theme has every other page,
 * and by `ci/test --nightly` all.
 */
export function isAccessible(theme, width, parity) {
  test(`pages, ${theme}: no error, no foreign request, nothing wider than any screen, accessible at ${width} px`, async () => {
    const site = published();
    const own = pages(site).filter((_, nth) => EVERYTHING || nth % 2 === parity);
    await eachPage(site, own, { theme }, async (name, page) => {
      for (const screen of [1440, 390, 320]) {
        await resize(page, screen);
        assert.ok((await wider(page)) <= 0, `${name} is ${await wider(page)} px wider than a screen of ${screen}`);
      }
      await page.setViewportSize({ width, height: 900 });
      assert.deepEqual(await barriers(page), [], name);
    });
  });
}
