// The book with the numbers of every other machine. ci/test builds it with those of one, drawn at random.

import assert from 'node:assert/strict';
import test from 'node:test';
import { build, copyOfCheckout, otherMachines } from '../site.mjs';

const checkout = copyOfCheckout();

for (const show of otherMachines(checkout)) {
  test(`the book can be built with the numbers of ${show}`, () => {
    const { status, output } = build(checkout, { effort: 'never', show });
    assert.equal(status, 0, output);
  });
}
