// Every page of the published site in one theme, for two tests that run side by side.

import assert from 'node:assert/strict';
import test from 'node:test';
import { barriers, eachPage, wider } from './browser.mjs';
import { pages, published } from './site.mjs';

/** No page complains, asks another host, is wider than one of these screens, or has barriers at the last of them. */
export function isAccessible(theme, screens) {
  test(`pages, ${theme}: no error, no foreign request, nothing wider than ${screens.join(', ')} px, accessible at the last`, async () => {
    const site = published();
    await eachPage(site, pages(site), { theme }, async (name, page) => {
      for (const screen of screens) {
        await page.setViewportSize({ width: screen, height: 900 });
        assert.ok((await wider(page)) <= 0, `${name} is ${await wider(page)} px wider than a screen of ${screen}`);
      }
      assert.deepEqual(await barriers(page), [], name);
    });
  });
}
