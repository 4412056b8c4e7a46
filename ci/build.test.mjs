// The whole way through the real mdBook: builds that go well, builds that must not, and what a warm build does.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'node:test';
import { commands, run } from './commands.mjs';
import { build, copyOfCheckout, drawn, onlyPages, page, pages, published } from './site.mjs';

const checkout = copyOfCheckout();
const record = join(checkout, 'data/local/switch-cost/socket.jsonl');

test('a fresh checkout measures and renders, and a test run shows none of its figures', () => {
  const { status, output, site } = build(checkout, { effort: 'test' });
  assert.equal(status, 0, output);
  assert.match(output, /measuring switch-cost\/socket/);
  for (const name of pages(site)) {
    const html = readFileSync(join(site, name), 'utf8');
    for (const mark of ['{{#', 'cmdrun error', '<!-- cmdrun', '<code class="language-rust ignore"></code>']) {
      assert.ok(!html.includes(mark), `${name} contains ${mark}`);
    }
  }
  const chapter = page(site, 'switch-cost/what-a-hop-over-a-socket-costs');
  assert.match(chapter, /test run/);
  assert.doesNotMatch(chapter, /class="value"/, 'a figure of a test run is shown as a result');
  assert.doesNotMatch(page(site, 'index'), /og:image/, 'a picture of a site of which nobody knows the address');
});

test('a second build measures nothing, and neither does one after a change of prose', () => {
  const before = readFileSync(record, 'utf8');
  appendFileSync(join(checkout, 'book/src/method.md'), '\nA new sentence.\n');
  const { status, output, site } = build(checkout, { effort: 'test' });
  assert.equal(status, 0, output);
  assert.match(output, /nothing to measure/);
  assert.equal(readFileSync(record, 'utf8'), before);
  assert.match(page(site, 'method'), /A new sentence/);
});

test('a listing that was changed after measuring is boxed as stale, and so is every number and verdict that stands on it', () => {
  const listing = join(checkout, 'benches-src/switch-cost/src/bin/loop-socket.rs');
  const before = readFileSync(listing, 'utf8');
  writeFileSync(listing, `${before}pub fn changed() {}\n`);
  const check = spawnSync('cargo', ['tally', 'check'], { cwd: checkout, encoding: 'utf8' });
  const whole = onlyPages(checkout, ['at-a-glance', 'claims', 'switch-cost/what-a-hop-over-a-socket-costs']);
  const { status, output, site } = build(checkout, { effort: 'never', show: 'reference' });
  whole();
  writeFileSync(listing, before);
  assert.equal(status, 0, output);
  assert.match(check.stderr, /was measured before these changed/);
  assert.match(page(site, 'switch-cost/what-a-hop-over-a-socket-costs'), /<strong>stale<\/strong>.*loop-socket\.rs/);
  assert.match(page(site, 'at-a-glance'), /<a class="value" href="switch-cost\/what-a-hop-over-a-socket-costs\.html#socket[\w-]*"[^>]*>[^<]*<\/a>( <span class="interval">[^<]*<\/span>)?[^<]*\. <a class="missing" href="switch-cost\/what-a-hop-over-a-socket-costs\.html#socket[\w-]*" title="[^"]*loop-socket[^"]*">stale<\/a>/);
  assert.match(page(site, 'claims'), /<strong>[a-z ]+ \(stale\)<\/strong>/, 'a verdict in the ledger');
  assert.match(page(site, 'switch-cost/what-a-hop-over-a-socket-costs'), /<strong class="verdict">[a-z ]+ \(stale\)<\/strong>/, 'a verdict of a claim');
});

/** What a build says of a book of one page that has this at its end, before it comes to render it. */
function buildOfOnePage(more) {
  const path = join(checkout, 'book/src/glossary.md');
  const before = readFileSync(path, 'utf8');
  const whole = onlyPages(checkout, ['glossary']);
  writeFileSync(path, `${before}\n${more}\n`);
  const built = build(checkout, { effort: 'never' });
  whole();
  writeFileSync(path, before);
  return built;
}

test('a directive that fails stops the build and names chapter and command', () => {
  const { status, output } = buildOfOnePage('<!-- cmdrun tally value no-such-program -->');
  assert.notEqual(status, 0);
  assert.match(output, /glossary\.md.*tally value no-such-program/s);
  assert.match(output, /unknown program "no-such-program"/);
});

test('a command that book.toml lists is refused where tally lacks what runs it, with the cure', () => {
  const settings = join(checkout, 'book.toml');
  const book = readFileSync(settings, 'utf8');
  writeFileSync(settings, book.replace('[preprocessor.cmdrun]', '[preprocessor.cmdrun]\ncommands = ["date"]'));
  const { status, output } = buildOfOnePage('<!-- cmdrun date -->');
  writeFileSync(settings, book);
  assert.notEqual(status, 0);
  assert.match(output, /glossary\.md.*add `--features cmdrun` after `cargo run`/s);
});

test('unknown settings stop the build before anything is measured', () => {
  for (const [settings, reason] of [
    [{ effort: 'heroic' }, /unknown effort "heroic"/],
    [{ effort: 'never', show: 'moon' }, /unknown machine "moon"; there are: local, reference/],
  ]) {
    const { status, output } = build(checkout, settings);
    assert.notEqual(status, 0);
    assert.match(output, reason);
  }
});

test('commands that the book or the README shows are understood, and ten drawn at random can be run', async () => {
  const all = commands(checkout, published());
  assert.ok(all.length > 100, `only ${all.length} commands were found`);
  // A program that is asked what it has reads all other flags first.
  for (const command of all) {
    const [, program, flags] = command.match(/^cargo program ([\w-]+)(?: -- (.*))?$/) ?? [];
    if (!program) continue;
    const { status, stderr } = spawnSync(`target/release/${program} ${flags ?? ''} --describe`, { cwd: checkout, shell: true, encoding: 'utf8' });
    assert.equal(status, 0, `${command}\n${stderr}`);
  }
  // What is measured in full only, or pushes the machine to its limits, is measured when asked for.
  const listed = JSON.parse(execFileSync('cargo', 'tally list --form json'.split(' '), { cwd: checkout, encoding: 'utf8' }));
  const needed = new Map(listed.map((own) => [basename(own.experiment), own.command.split(' ').filter((word) => word !== basename(own.experiment))]));
  let named = 0;
  for (const command of all.filter((own) => own.startsWith('cargo tally measure'))) {
    const words = command.split(' ');
    for (const name of words.filter((word) => needed.has(word))) {
      named += 1;
      for (const word of needed.get(name)) assert.ok(words.includes(word), `${command} lacks ${word}`);
    }
  }
  assert.ok(named > 10, `only ${named} commands measure an experiment by its name`);
  const ten = drawn(all, 10);
  console.log(ten.join('\n'));
  await run(checkout, ten);
});
