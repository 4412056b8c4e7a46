// From an empty folder to a site with own numbers: how long that takes, what of it the compiler needs, and how soon the first screen's numbers are there.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { bound, timed } from '../bound.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

// Another machine may be half as fast.
const SLACK = { slack: 2 };

test('a newcomer has own numbers soon', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'newcomer-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('git', ['clone', '--quiet', root, folder]);
  const [install, open] = readFileSync(join(folder, 'README.md'), 'utf8').match(/```sh\n(cargo install .*)\n(.* build) --open\n```/).slice(1);
  const mdbook = timed(folder, install);
  const tally = timed(folder, 'cargo build --locked --manifest-path benches-src/tally/Cargo.toml');
  const whole = timed(folder, open);
  bound('from the first command to a site with own numbers', (mdbook.seconds + tally.seconds + whole.seconds) / 60, 12, 'min', SLACK);
  bound('CPU time to compile tally', tally.cpu, 200, 's', SLACK);
  const [, minutes = 0, seconds] = whole.output.match(/compiled programs for (?:(\d+) min )?(\d+) s, measured for/);
  bound('until all is compiled', (mdbook.seconds + tally.seconds + 60 * minutes + Number(seconds)) / 60, 4.5, 'min', SLACK);

  // What the answer of the front page and its figure stand on, and when the record of it was whole.
  const page = readFileSync(join(folder, 'site/introduction.html'), 'utf8');
  const first = page.slice(page.indexOf('class="lead"'), page.indexOf('</figure>'));
  const anchors = [...first.matchAll(/class="value" href="[^"#]*#([\w-]+)"/g)].map(([, anchor]) => anchor);
  assert.ok(anchors.length >= 8, String(anchors));
  const local = join(folder, 'data/local');
  const records = readdirSync(local, { recursive: true }).filter((file) => file.endsWith('.jsonl'));
  const isFirst = (file) => anchors.some((anchor) => `${anchor}-`.startsWith(`${basename(file, '.jsonl')}-`));
  const ended = records.filter(isFirst).map((file) => statSync(join(local, file)).mtimeMs);
  const begun = records.map((file) => Date.parse(JSON.parse(readFileSync(join(local, file), 'utf8').split('\n', 1)[0]).header.before.time));
  bound('until the first screen has its numbers', (Math.max(...ended) - Math.min(...begun)) / 1000, 150, 's', SLACK);

  const cold = timed(folder, 'rm -rf target/release && cargo build --release --locked --workspace --bins --manifest-path benches-src/Cargo.toml');
  bound('CPU time to compile all programs', cold.cpu, 350, 's', SLACK);
});
