// Counts, page by page, what makes prose hard to read: words that point back, conditions, negations, sentences that begin with a subordinate
// word. Then the same of the findings, the claims and the captions that tally fills in, and the phrases that none of them may have. It warns and
// does not fail: a person decides. With --strict it fails where anything is above a ceiling. `ci/prose.test.mjs` is strict with the findings.
//   node ci/prose.mjs [--strict] [PAGE.md …]

import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findings, PHRASES, phrases, proseOf } from './findings.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'book/src');

/**
 * What is counted, per 1,000 words or in a hundred sentences, and the most that a page may have of it; or the least. Findings, claims and captions
 * name two sides and a condition in each sentence. Where they are above the ceiling of pages they have one of their own: what they had when it
 * was set, so that they cannot grow.
 */
const COUNTS = [
  { name: 'what, whatever', words: ['what', 'whatever'], most: 4, claims: 11 },
  { name: 'who, whose, somebody, nobody', words: ['who', 'whoever', 'whose', 'whom', 'somebody', 'nobody', 'anybody', 'everybody'], most: 1.5 },
  { name: 'clauses with a conditional "where"', pattern: /(?:^|[.,;:(]\s+)where\b/gi, most: 1 },
  { name: 'it, its, they, them, their', words: ['it', 'its', 'they', 'them', 'their', 'itself', 'themselves'], most: 28, claims: 32 },
  {
    name: 'one, other, another, either, neither, both',
    words: ['one', 'ones', 'other', 'others', 'another', 'either', 'neither', 'both'],
    most: 14,
    findings: 25,
    claims: 44,
    captions: 35,
  },
  { name: 'not, no, nor, never, without, hardly', words: ['not', 'no', 'nor', 'never', 'without', 'hardly', 'cannot', "n't"], most: 12, findings: 20, claims: 27 },
  { name: 'sentences begun with a preposition', opening: true, most: 15, findings: 43, claims: 33, captions: 31 },
  { name: 'I, we, you', words: ['i', 'we', 'you', 'your', 'our', 'us', 'me', 'my'], least: 6 },
];

const OPENINGS = new Set(
  `about above after against along although among as at because before behind beside besides between beyond by despite during except for from if
   in inside instead into like near of off on once onto out outside over per since than that though through throughout till to toward under
   unless until up upon what whatever when whenever where whereas wherever whether which while who whoever whose with within without`.split(/\s+/),
);

/** A page's sentences as a reader meets them: neither code nor tables, numbers for directives, and nothing that somebody else said. */
export function prose(markdown) {
  const text = markdown
    .replace(/^```.*?^```/gms, '\n\n')
    .replace(/<(details|table|style|script)\b.*?<\/\1>/gs, '\n\n')
    // What stands on a line of its own is a figure or a table; within a sentence, a number.
    .replace(/^(?:<p[^>]*>)?<!-- cmdrun [^\n]*? -->(?:<\/p>)?$/gm, '\n\n')
    .replace(/<!-- cmdrun .*? -->/g, '5')
    .replace(/<!--.*?-->/gs, '')
    .replace(/^\|.*$/gm, '\n')
    .replace(/^#+ .*$/gm, '\n')
    .replace(/"[^"]*"|“[^”]*”/g, 'words')
    // Where a line only leads elsewhere, it is a signpost.
    .replace(/^\s*(?:[-*] |→ )?(?:\[[^\]]*\]\([^)]*\)(?:[\s·,.]| and)*)+$/gm, '\n')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`]*`/g, 'code')
    .replace(/<[^>]*>/g, ' ')
    .replace(/[*_]/g, '');
  const blocks = text.split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/).map((block) => block.replace(/^\s*(?:[-*>]|\d+\.) /, '').replace(/\s+/g, ' ').trim());
  return blocks.filter((block) => /[a-z]{2}/.test(block)).flatMap((block) => block.split(/(?<=[.!?])["”)]?\s+(?=[A-Z0-9“"])/));
}

/** Every count of a text, per 1,000 words; openings in a hundred sentences. */
export function counted(sentences) {
  const text = sentences.join(' ');
  const words = text.match(/[A-Za-z][A-Za-z'’]*|\d[\d.,]*/g) ?? [];
  const lower = words.map((word) => word.toLowerCase().replace('’', "'"));
  const per = (number) => (words.length ? (1000 * number) / words.length : 0);
  const figures = COUNTS.map(({ words: own, pattern, opening }) => {
    if (opening) {
      const begun = sentences.filter((sentence) => OPENINGS.has((sentence.match(/[A-Za-z']+/)?.[0] ?? '').toLowerCase()));
      return sentences.length ? (100 * begun.length) / sentences.length : 0;
    }
    if (pattern) return per((text.match(pattern) ?? []).length);
    return per(lower.filter((word) => own.includes(word) || (own.includes("n't") && word.endsWith("n't"))).length);
  });
  return { words: words.length, figures };
}

/** What a page has too much or too little of, or what findings, claims or captions have. So few words that a single one decides are left alone. */
export function aboveCeilings({ words, figures }, kind = 'page') {
  return COUNTS.flatMap((count, index) => {
    const { name, least } = count;
    const most = count[kind] ?? count.most;
    const figure = figures[index];
    // One word more than the ceiling allows is chance, not style.
    const slack = 1000 / Math.max(words, 1);
    if (most !== undefined && figure > most + (name.startsWith('sentences') ? 0 : slack)) return [`${name}: ${figure.toFixed(1)}, to be at most ${most}`];
    if (kind === 'page' && least !== undefined && figure < least && words >= 300) return [`${name}: ${figure.toFixed(1)}, to be at least ${least}`];
    return [];
  });
}

/** The pages of the book's source, with their texts. */
export function pages() {
  const files = readdirSync(source, { recursive: true }).filter((file) => file.endsWith('.md') && file !== 'SUMMARY.md' && !file.startsWith('generated'));
  return files.sort().map((file) => ({ file, text: readFileSync(join(source, file), 'utf8') }));
}

/** What is above a ceiling in findings, claims and captions together, each line with its place. */
export function wrongInFindings(groups = findings()) {
  const own = groups.flatMap(({ file, kind, texts }) => aboveCeilings(counted(proseOf(texts)), kind).map((line) => `${file}: ${line}`));
  const numbers = phrases(groups.flatMap(({ texts }) => texts));
  const found = PHRASES.flatMap(({ name, most }, index) => {
    if (numbers[index] <= most) return [];
    const places = groups.flatMap(({ file, texts }) => texts.filter((text) => phrases([text])[index]).map((text) => `\n    ${file}: ${text}`));
    return [`${name}: ${numbers[index]} times, to be at most ${most}${places.join('')}`];
  });
  return [...own, ...found];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const own = asked.length ? asked.map((file) => ({ file: relative(source, file).startsWith('..') ? file : relative(source, file), text: readFileSync(file, 'utf8') })) : pages();
  let above = 0;
  for (const { file, text } of own) {
    const result = counted(prose(text));
    const wrong = aboveCeilings(result);
    above += wrong.length;
    console.log(`${file}: ${result.words} words${wrong.length ? '' : ', under every ceiling'}`);
    for (const line of wrong) console.log(`  ${line}`);
  }
  if (!asked.length) {
    const groups = findings();
    const wrong = wrongInFindings(groups);
    above += wrong.length;
    console.log(`findings, claims and captions: ${groups.flatMap(({ texts }) => texts).length} texts${wrong.length ? '' : ', under every ceiling'}`);
    for (const line of wrong) console.log(`  ${line}`);
  }
  console.log(`${above} counts above a ceiling`);
  if (process.argv.includes('--strict') && above) process.exitCode = 1;
}
