// The sentences that tally fills in: every `say` of a chapter's findings, the words around a claim's verdict, the captions of figures. `ci/prose.mjs`
// counts in them what it counts in pages, and the phrases below, of which most may not occur at all.

import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** What a finding may say so often in the whole book. A number above 0 is how often it stood there when this was written: it may only become less. */
export const PHRASES = [
  { name: 'a ratio without a noun', count: ratiosWithoutNoun, most: 0 },
  { name: '"no sure"', pattern: /\bno sure\b/gi, most: 0 },
  { name: '"not sure", "not surely"', pattern: /\bnot (?:\w+ )?sure(?:ly)?\b/gi, most: 0 },
  { name: '"cannot be told"', pattern: /\bcannot be told\b/gi, most: 0 },
  { name: '"not excluded"', pattern: /\bnot excluded\b/gi, most: 0 },
  { name: '"told from", "told apart"', pattern: /\btold (?:from|apart)\b/gi, most: 0 },
  { name: 'a metaphor', pattern: /\bat the door\b|\blets? go\b|\bready stacks?\b|\bflatter|\baccus(?:e|es|ing)\b/gi, most: 0 },
  { name: '"such"', pattern: /\bsuch\b(?! as\b)/gi, most: 0 },
  { name: '"so many"', pattern: /\bso many\b/gi, most: 0 },
  { name: '"nobody", "whoever"', pattern: /\bnobody\b|\bwhoever\b/gi, most: 0 },
  { name: 'another name than hand-over, unpinned, overhead', pattern: /\bhops?\b|\bfree to (?:move|use)\b|\bsurcharges?\b/gi, most: 0 },
];

/** What may follow a ratio so that it says times of what: "as much as …", "a task's …", "the 7 µs of …". */
const NOUN = /^ (?:as|a|an|the|what|that|those|its|their|our|ours|per|for|on average)\b|^ [\w-]+(?:'s|s')/;

/**
 * Sentences whose first ratio does not say times of what; a later one leaves out what the first has said. Right after a colon or "at" each
 * ratio has to say it.
 */
export function ratiosWithoutNoun(text) {
  const within = (sentence) =>
    [...sentence.matchAll(/\{[^}]*\}(?:×|(?= times\b))(?: times\b)?/g)].filter((ratio, index) => {
      const isAlone = /(?::|\bat) $/.test(sentence.slice(0, ratio.index));
      return (index === 0 || isAlone) && !NOUN.test(sentence.slice(ratio.index + ratio[0].length));
    });
  return sentences(text).reduce((sum, sentence) => sum + within(sentence).length, 0);
}

function sentences(text) {
  return text.split(/(?<=[.!?])["”)]?\s+(?=[A-Z0-9“"{])/);
}

/** How often each phrase stands in these texts. */
export function phrases(texts) {
  return PHRASES.map(({ pattern, count }) =>
    texts.reduce((sum, text) => sum + (count ? count(text) : (withoutQuantities(text).match(pattern) ?? []).length), 0),
  );
}

function withoutQuantities(text) {
  return text.replace(/\{[^}]* unclear\}/g, '').replace(/\{[^}]*\}/g, '5');
}

/** The values of these keys in a file of TOML: strings in one line or, with a backslash at their ends, in several. */
export function values(toml, keys) {
  const string = String.raw`(?:"""([\s\S]*?)"""|"((?:[^"\\]|\\.)*)"|'([^'\n]*)')`;
  const found = toml.matchAll(new RegExp(String.raw`(?:^|[{,] *)(?:${keys.join('|')}) = ${string}`, 'gm'));
  return [...found].map(([, long, plain, raw]) => (long ?? plain ?? raw).replace(/\\\n\s*/g, ''));
}

/** A finding's sentence for each of its outcomes: words in brackets are theirs, and those of a plain ratio are what tally makes of it. */
export function outcomes(say, ratio) {
  const isPlain = ratio && !say.includes('[');
  const whole = isPlain ? say.replace(`{${ratio}}`, '[|only |]$&').replace(/\.$/, '[||, not clearly different].') : say;
  const inBrackets = /\[([^\]]*)\]/g;
  const first = inBrackets.exec(whole)?.[1].split('|') ?? [''];
  return first.map((_, nth) => whole.replace(inBrackets, (_, words) => words.split('|')[nth]));
}

/** All sentences of a file of findings. */
export function sayings(toml) {
  const ratio = (block) => block.match(/^ratio = "(.*)"$/m)?.[1];
  return toml.split(/^(?=\[\[)/m).flatMap((block) => values(block, ['say']).flatMap((say) => outcomes(say, ratio(block))));
}

/** The keys of a claim that are ours to word. Its sentence is somebody else's, or a prediction that stays as it was. */
const OF_CLAIMS = ['note', 'begins', 'holds', 'shifted', 'does_not_hold', 'undecided', 'too_close', 'compared', 'unchecked', 'name'];

/** All findings, by where they stand. */
export function findings() {
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const chapters = readdirSync(join(root, 'benches-src'), { recursive: true }).sort();
  const says = chapters.filter((path) => /(?:^|\/)takeaways\.toml$/.test(path) && !path.includes('target/'));
  const folders = [...new Set(chapters.filter((path) => /^[^/]+\/claims\/.*\.toml$/.test(path)).map(dirname))];
  const pages = readdirSync(join(root, 'book/src'), { recursive: true }).filter((path) => path.endsWith('.md') && !path.startsWith('generated'));
  const captions = pages.sort().flatMap((page) => [...read(`book/src/${page}`).matchAll(/<!-- cmdrun [^\n]*?--caption "([^"\n]*)"/g)].map(([, text]) => text));
  return [
    ...says.map((path) => ({ file: `benches-src/${path}`, kind: 'findings', texts: sayings(read(`benches-src/${path}`)) })),
    ...folders.map((folder) => {
      const files = chapters.filter((path) => dirname(path) === folder);
      return { file: `benches-src/${folder}`, kind: 'claims', texts: files.flatMap((path) => values(read(`benches-src/${path}`), OF_CLAIMS)) };
    }),
    { file: 'captions of figures', kind: 'captions', texts: captions },
  ];
}

/** A finding's sentences as a reader meets them: numbers for quantities, and nothing that somebody else said. */
export function proseOf(texts) {
  return texts.map((text) => withoutQuantities(text).replace(/^[:;,.]\s*/, '').replace(/"[^"]*"|“[^”]*”/g, 'words')).flatMap(sentences).filter((text) => /[a-z]{2}/.test(text));
}
