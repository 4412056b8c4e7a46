// Every command that the book and the README show, run as it stands there. ci/test runs ten of them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { commands, run } from '../commands.mjs';
import { build, copyOfCheckout } from '../site.mjs';

test('every command that the book or the README shows can be run', async () => {
  const checkout = copyOfCheckout();
  const { status, output, site } = build(checkout, { effort: 'never', show: 'reference' });
  assert.equal(status, 0, output);
  await run(checkout, commands(checkout, site));
});
