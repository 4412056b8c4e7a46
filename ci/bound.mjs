// Bounds that were promised, as tests hold them. A time fails beyond `slack` times its bound, since other machines are slower.

import assert from 'node:assert/strict';
import { build } from './site.mjs';

/** Says a figure beside its bound. */
export function bound(what, value, most, unit, { slack = 1 } = {}) {
  console.log(`${what}: ${Number(value.toFixed(2))} ${unit}, to be at most ${most}`);
  assert.ok(value <= most * slack, `${what}: ${value} ${unit} are more than ${slack} times ${most}`);
}

/** The shortest of three builds, in seconds: what else the machine did is in none of them, or in all. */
export function secondsOfBuild(checkout, settings) {
  const once = () => {
    const started = performance.now();
    const { status, output } = build(checkout, settings);
    assert.equal(status, 0, output);
    return (performance.now() - started) / 1000;
  };
  return Math.min(once(), once(), once());
}
