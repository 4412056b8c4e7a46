// Builds the book as a reader would, in a copy of this checkout, so that tests leave nothing behind in it.

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * A copy of every file that git tracks or would track. What was built before is shared: with the files' own times, and always in the same
 * place, cargo finds its programs fresh. So there is one such copy at a time; a test that compiles no program has a copy of its own name.
 */
export function copyOfCheckout(name = 'book') {
  const copy = join(tmpdir(), `${name}-${createHash('sha256').update(root).digest('hex').slice(0, 12)}`);
  own(copy);
  rmSync(copy, { recursive: true, force: true });
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  // What somebody has removed is tracked until that is committed.
  const there = files.toString().split('\0').filter((file) => file && lstatSync(join(root, file), { throwIfNoEntry: false }));
  for (const file of there) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file), { verbatimSymlinks: true, preserveTimestamps: true });
  }
  symlinkSync(join(root, 'target'), join(copy, 'target'));
  tallyOfThisCheckout();
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
  return copy;
}

/** Refuses a copy that another process uses, which would lose its files. */
function own(copy) {
  const owner = `${copy}.owner`;
  const other = existsSync(owner) && readFileSync(owner, 'utf8');
  if (other && other !== String(process.pid) && existsSync(`/proc/${other}`)) {
    throw new Error(`${copy} is used by process ${other}; give the copy of this test a name of its own`);
  }
  writeFileSync(owner, String(process.pid));
  process.on('exit', () => rmSync(owner, { force: true }));
}

/**
 * From here on, what is started uses tally as it was compiled here. It stands on a crate outside its workspace, which cargo knows by its whole
 * path: in a copy it would be compiled once more.
 */
function tallyOfThisCheckout() {
  if (/\s/.test(root)) return;
  const run = `run --quiet --manifest-path ${root}/benches-src/tally/Cargo.toml --`;
  process.env.CARGO_ALIAS_TALLY = run;
  process.env.MDBOOK_PREPROCESSOR__MEASURE__COMMAND = `cargo ${run} preprocess measure`;
  process.env.MDBOOK_PREPROCESSOR__CMDRUN__COMMAND = `cargo ${run} preprocess cmdrun`;
}

/** Why `ci/bundle` would pack nothing; false if it would. */
export function cannotPack() {
  const changed = execFileSync('git', ['status', '--porcelain', '--untracked-files=no', '--', 'benches-src', 'rust-toolchain.toml', '.cargo'], { cwd: root });
  return changed.length > 0 && 'something that is packed is not committed';
}

/** The folder of the archive for machines like this one, packed and unpacked below this folder. */
export function unpackedBundle(folder) {
  const packed = execFileSync('ci/bundle', ['here'], { cwd: root, encoding: 'utf8' });
  execFileSync('tar', ['-xzf', join(root, packed.trim().split('\n').at(-1)), '-C', folder]);
  return join(folder, 'what-async-costs-here');
}

/** The environment in which `mdbook build` has these settings of [preprocessor.measure]. */
export const environment = (settings) =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [`MDBOOK_PREPROCESSOR__MEASURE__${name.toUpperCase()}`, value]));

/** Runs `mdbook build` with these settings of [preprocessor.measure] and in this environment; { status, output, site }. */
export function build(checkout, settings = {}, more = {}) {
  const env = { ...process.env, ...more, ...environment(settings) };
  const { status, stdout, stderr, error } = spawnSync('mdbook', ['build'], { cwd: checkout, env, encoding: 'utf8' });
  if (error) throw new Error(`cannot start mdbook: ${error.message}; ci/test installs it into target/tools/bin, which has to be in PATH`);
  return { status, output: stdout + stderr, site: join(checkout, 'site') };
}

/**
 * Leaves no page in this checkout's book but these, by their names without the ending, and of
 * book.toml what says nothing of others. Returns what brings the book back.
 */
export function onlyPages(checkout, names) {
  const [summary, settings] = ['book/src/SUMMARY.md', 'book.toml'].map((file) => join(checkout, file));
  const whole = [summary, settings].map((file) => readFileSync(file, 'utf8'));
  writeFileSync(summary, names.map((name) => `- [${name}](${name}.md)\n`).join(''));
  writeFileSync(settings, whole[1].split('[output.html.search.chapter]')[0]);
  return () => [summary, settings].forEach((file, nth) => writeFileSync(file, whole[nth]));
}

/** Where tests say that a site is published. */
export const ADDRESS = 'https://example.org/book';

/** The published site, for tests that only look at it: the one that ci/test has built, or one that is built now. */
export function published() {
  if (process.env.PUBLISHED_SITE) return process.env.PUBLISHED_SITE;
  const reference = { effort: 'never', show: 'reference' };
  const { status, output, site } = build(copyOfCheckout(), reference, { MDBOOK_PREPROCESSOR__CMDRUN__ADDRESS: ADDRESS });
  if (status !== 0) throw new Error(output);
  return site;
}

/** The pages that answer a chapter's question. */
export const ANSWERS = ['switch-cost', 'creation', 'memory', 'limits', 'async-vs-manual', 'does-it-matter'].map((name) => `${name}.html`);

/** The text of a page, by its name without the ending. */
export const page = (site, name) => readFileSync(join(site, `${name}.html`), 'utf8');

/** The pages of a built site, without those that mdBook adds. */
export function pages(site) {
  const own = (file) => file.endsWith('.html') && !['404.html', 'index.html', 'print.html', 'toc.html'].includes(basename(file));
  return readdirSync(site, { recursive: true }).filter(own).sort();
}

/** The machines that came with the checkout. */
export function machines(checkout) {
  return readdirSync(join(checkout, 'data/machines')).filter((name) => name !== 'reference');
}

/** Those whose numbers neither the published site nor a reader's own build shows. */
export function otherMachines(checkout) {
  const reference = readlinkSync(join(checkout, 'data/machines/reference'));
  return machines(checkout).filter((name) => name !== reference);
}

/** Whether nothing is left out that other parts of a test stand for: by `ci/test --nightly`. */
export const EVERYTHING = process.env.EVERY_PAGE === 'true';

/** So many of these, drawn at random, each once. */
export function drawn(all, count) {
  const left = [...all];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(Math.floor(Math.random() * left.length), 1)[0]);
}

/** A function of a name that is asked for the same ones again and again. */
export function kept(compute) {
  const known = new Map();
  return (name) => {
    if (!known.has(name)) known.set(name, compute(name));
    return known.get(name);
  };
}

/** Every link of a built site that leads nowhere, and every id that a page has twice. */
export function deadLinks(site) {
  const mainOf = kept((name) => readFileSync(join(site, name), 'utf8').match(/<main>[\s\S]*<\/main>/)[0]);
  const idsOf = (name) => [...mainOf(name).matchAll(/<[a-z][^<>]*? id="([^"]+)"/g)].map(([, id]) => id);
  const anchorsOf = kept((name) => new Set(idsOf(name)));
  const dead = [];
  for (const name of [...pages(site), 'print.html']) {
    const ids = idsOf(name);
    const seen = new Set();
    for (const id of ids) {
      if (seen.has(id)) dead.push(`${name}: the id ${id} twice`);
      seen.add(id);
    }
    const links = [...mainOf(name).matchAll(/<a\b[^<>]*? href="([^"]+)"/g)].map(([, link]) => link);
    for (const link of new Set(links)) {
      if (/^https?:/.test(link)) continue;
      const [path, anchor] = link.split('#');
      const target = path ? normalize(join(dirname(name), path)) : name;
      if (!existsSync(join(site, target))) dead.push(`${name}: no page ${link}`);
      // Settings of the calculator are no place.
      else if (anchor && !anchor.includes('=') && target.endsWith('.html') && !anchorsOf(target).has(anchor)) dead.push(`${name}: no anchor ${link}`);
    }
  }
  return dead;
}
