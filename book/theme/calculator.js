// The calculator's form. It computes what `tally calculator` computes, from the same formulas, and says it in the same words: both stand in the page as
// data. The setting is in the page's address, so that it can be passed on. Without this script the worked cases are there, each with its answer.
(() => {
  'use strict';

  const source = document.getElementById('calculator-data');
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const byName = (list, name) => list.find((own) => own.name === name);

  // ---- Numbers.

  const SIGNS = { '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b };

  /** A formula's number: it is a number, a name, or a sign between two formulas. */
  function number(formula, values, input) {
    if (typeof formula === 'number') return formula;
    if (Array.isArray(formula)) return SIGNS[formula[0]](number(formula[1], values, input), number(formula[2], values, input));
    if (formula === input?.name) return input.value;
    const derived = byName(data.derived, formula);
    return derived ? number(derived.formula, values) : values[formula] * byName(data.settings, formula).size;
  }

  const names = (formula) => [formula].flat(Infinity);
  const inputOf = (output) => data.inputs.find(({ name }) => names(output.formula).includes(name));
  const whose = (output) => (output.of === 'extra' ? ['extra'] : ['thread', 'task']);

  /** Where an input was measured along its setting, with an interval, in the order of the setting. */
  function pointsOf({ options }, who) {
    const points = options.filter((option) => typeof option[who].low === 'number').map((option) => ({ at: option.at, ...option[who] }));
    return points.sort((a, b) => a.at - b.at);
  }

  /** What an input comes to: its first option, or what lies between two points along a setting, over the setting's logarithm. */
  function taken(input, who, values) {
    const points = input.along ? pointsOf(input, who) : [];
    if (!points.length) return input.options[0][who];
    const next = points.findIndex(({ at }) => at >= values[input.along]);
    if (next <= 0) return points.at(next);
    const [from, to] = [points[next - 1], points[next]];
    const share = Math.log(values[input.along] / from.at) / Math.log(to.at / from.at);
    const mixed = (key) => from[key] + share * (to[key] - from[key]);
    return { median: mixed('median'), low: mixed('low'), high: mixed('high') };
  }

  /** An output's median and interval, or what its input lacks. */
  function compute(output, who, values) {
    const input = inputOf(output);
    const measured = taken(input, who, values);
    const at = (value) => (typeof value === 'number' ? number(output.formula, values, { name: input.name, value }) : undefined);
    return { ...measured, median: at(measured.median), low: at(measured.low), high: at(measured.high) };
  }

  // ---- Words.

  const grouped = (text) => text.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
  const plain = (value) => grouped(String(value)).replace('-', '−');
  const shifted = (value, places) => (places >= 0 ? value * Number(`1e${places}`) : value / Number(`1e${-places}`));

  /** Two digits of a number, or fewer where these are thousandths: rounded to the side on which what is said stays true. */
  function rounded(value, isAbove) {
    let place = 3;
    while (place > -15 && Math.abs(shifted(value, place)) >= 100) place--;
    const whole = isAbove ? Math.ceil(shifted(value, place) - 1e-6) : Math.floor(shifted(value, place) + 1e-6);
    return 0 + shifted(whole, -place);
  }

  /** An end of an interval as a sentence says it. */
  function end(unit, value, isAbove) {
    if (unit === '') return plain(isAbove ? Math.ceil(value) : Math.floor(value));
    return plain(rounded(unit === 'GiB' ? value / 2 ** 30 : value, isAbove));
  }

  function sentence({ say, between, last }, parts) {
    const list = parts.length > 1 ? parts.slice(0, -1).join(between) + last + parts.at(-1) : parts.join('');
    return say.replace('{parts}', () => list);
  }

  const filled = (phrase, words) => phrase.replace(/\{(\w+)\}/g, (place, name) => words[name] ?? place);

  // ---- The answer.

  const STATES = ['yes', 'probably', 'open', 'hardly', 'unknown', 'no'];
  const decides = ({ bound }) => bound.kind === 'decides';

  function worst(all) {
    if (all.some(({ bound, state }) => bound.kind === 'sense' && state === 'no')) return 'senseless';
    return STATES[Math.max(...all.filter(decides).map(({ state }) => STATES.indexOf(state)))];
  }

  /** How an interval stands to a limit. What must be at most a limit has no effect at 0. */
  function stands({ at }, { median, low, high }, limit) {
    const [ofLow, ofMedian, ofHigh] = [low, median, high].map((value) => (at === 'most' ? value <= limit : value >= limit));
    if (ofLow === ofHigh) return ofLow ? 'yes' : 'no';
    if (ofMedian) return 'probably';
    return at === 'most' && low <= 0 ? 'open' : 'hardly';
  }

  /** How an output stands to its bound, and the phrase that says so. */
  function standing(output, values) {
    const bound = byName(data.bounds, output.bound);
    // The first is the thread's, or what it takes beyond a task.
    const value = compute(output, whose(output)[0], values);
    if (value.unknown) return { output, bound, state: 'unknown', weight: 0, phrase: value.unknown };
    const largest = Math.max(...bound.limits.map((formula) => number(formula, values)));
    const limit = bound.cap === null ? largest : Math.min(largest, number(bound.cap, values));
    const { low, high } = value;
    // What lies beyond was not measured, and the nearest is no proof of it.
    const firm = stands(bound, value, limit);
    const state = firm === 'no' && beyondOf(output, values, value) !== undefined ? 'hardly' : firm;
    const isBelow0 = bound.at === 'most' && high <= 0;
    const phrase = isBelow0 ? (bound.kept_below_0 ?? bound.kept) : ({ yes: bound.kept, no: bound.broken }[state] ?? bound.between);
    const settings = Object.fromEntries(Object.entries(values).map(([name, own]) => [name, plain(own)]));
    const words = { ...settings, low: end(output.unit, low, false), high: end(output.unit, high, true), limit: end(output.unit, limit, false) };
    return { output, bound, state, weight: state === 'no' ? low : high, phrase: filled(phrase, words) };
  }

  const standings = (values) => data.outputs.filter(({ bound }) => bound).map((output) => standing(output, values));

  /** The phrases of the bounds of a kind that stand so: of several with the same bound, that of the worst. */
  function said(all, kind, isSo) {
    const worstOf = new Map();
    for (const own of all.filter(({ bound, state }) => bound.kind === kind && isSo(state))) {
      if (!(worstOf.get(own.bound.name)?.weight >= own.weight)) worstOf.set(own.bound.name, own);
    }
    return [...worstOf.values()].map(({ phrase }) => phrase);
  }

  /** What a pool takes where a thread per connection may not do; nothing where one of its prices is not known, or there are no calls to wait for. */
  function pooled(all, state) {
    const isNone = ({ bound, weight }) => bound.kind === 'pool' && weight === 0;
    return state === 'yes' || state === 'unknown' || all.some(isNone) ? [] : said(all, 'pool', () => true);
  }

  /** Beyond what the inputs that decide here were measured. */
  function beyond(all, values, decisive) {
    return all.filter((own) => decides(own) && own.state === decisive).flatMap(({ output }) => {
      const most = beyondOf(output, values, compute(output, whose(output)[0], values));
      const input = inputOf(output);
      return most === undefined ? [] : [`${input.label} with more than ${plain(most)} ${byName(data.settings, input.along).label}`];
    });
  }

  /** How far an output's input was measured along a setting, if these values go beyond; nothing where the output comes to nothing. */
  function beyondOf(output, values, { low, high }) {
    const input = inputOf(output);
    const most = input.along ? pointsOf(input, whose(output)[0]).at(-1)?.at : undefined;
    return most === undefined || (low === 0 && high === 0) || values[input.along] <= most ? undefined : most;
  }

  /** The largest number in a range up to which something holds, if it does at the beginning. */
  function most(least, greatest, holds) {
    if (!holds(least)) return undefined;
    if (holds(greatest)) return greatest;
    let [low, high] = [least, greatest];
    for (let halving = 0; halving < 60; halving++) {
      const middle = Math.sqrt(low * high);
      if (holds(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  const levers = data.settings.filter(({ name }) => data.bounds.some(({ kind, lever }) => kind === 'decides' && lever === name));
  const lever = (setting, value) => `${plain(value)} ${setting.label}`;

  /** Up to what of each lever, the others and the machine's limits being as they are, threads would still do. */
  function still(values) {
    return levers.flatMap((setting) => {
      const own = values[setting.name];
      const holds = (value) => {
        const all = standings({ ...values, [setting.name]: value });
        return worst(all) === 'yes' && all.every(({ bound, state }) => bound.kind !== 'raised' || state === 'yes');
      };
      const value = most(own, setting.most, holds);
      return value < setting.most ? [lever(setting, Math.max(rounded(value, false), own))] : [];
    });
  }

  /** Up to what of the levers together threads would do; nothing where no number of them helps. */
  function would(values) {
    const parts = [];
    for (const setting of levers) {
      const isKept = (values) => standings(values).every((own) => !decides(own) || own.bound.lever !== setting.name || own.state === 'yes');
      if (isKept(values)) continue;
      const found = most(setting.least, values[setting.name], (value) => isKept({ ...values, [setting.name]: value }));
      if (found === undefined) return [];
      const value = Math.max(rounded(found, false), setting.least);
      parts.push(lever(setting, value));
      values = { ...values, [setting.name]: value };
    }
    return parts;
  }

  function answer(values) {
    const all = standings(values);
    const state = worst(all);
    const { sentences } = data;
    if (state === 'senseless') return { state, text: sentence(sentences.senseless, said(all, 'sense', (own) => own === 'no')) };
    const changes = state === 'yes' ? still(values) : state === 'unknown' ? [] : would(values);
    const after = (own, parts) => (parts.length ? ` ${sentence(own, parts)}` : '');
    const parts = [
      after(state === 'yes' ? sentences.still : sentences.would, changes),
      after(sentences.pool, pooled(all, state)),
      after(sentences.raise, said(all, 'raised', (own) => own !== 'yes' && own !== 'unknown')),
      after(sentences.beyond, beyond(all, values, state)),
    ];
    return { state, text: sentence(sentences[state], said(all, 'decides', (own) => own === state)) + parts.join('') };
  }

  // ---- What somebody typed, here or in the address.

  /** The numbers of these texts where they are numbers, the others as they were; and what had to be changed, in words. */
  function read(texts, before) {
    const [values, notes] = [{ ...before }, []];
    for (const { name, label, least, most, whole } of data.settings) {
      const text = texts.get(name);
      if (text === null || text === undefined) continue;
      const value = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : NaN;
      if (!Number.isFinite(value) || value < 0) {
        notes.push(`${label}: no usable number, so we took ${plain(values[name])}`);
        continue;
      }
      const within = Math.min(Math.max(value, least), most);
      values[name] = whole ? Math.round(within) : within;
      if (within !== value) notes.push(`${label}: not between ${plain(least)} and ${plain(most)}, so we took ${plain(values[name])}`);
      else if (values[name] !== value) notes.push(`${label}: a whole number, so we took ${plain(values[name])}`);
    }
    return { values, notes };
  }

  const address = (values) => `#${new URLSearchParams(data.settings.map(({ name }) => [name, values[name]]))}`;

  /** An address that says numbers has a sign between name and number; any other is a place on the page, and mdBook's. */
  function fromAddress() {
    const first = valuesOf(data.cases[0]);
    if (!location.hash.includes('=')) return { values: first, notes: [] };
    const texts = new URLSearchParams(location.hash.slice(1));
    const unknown = [...texts.keys()].filter((name) => !byName(data.settings, name)).length;
    const { values, notes } = read(texts, first);
    return { values, notes: unknown ? [...notes, `names in the address that are no settings: ${plain(unknown)}`] : notes };
  }

  const valuesOf = (own) => Object.fromEntries(data.settings.map(({ name }) => [name, own[name]]));

  // ---- The form. Every text goes in as text.

  function element(name, attributes = {}, ...children) {
    const own = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) own.setAttribute(key, value);
    own.append(...children);
    return own;
  }

  const button = (text) => element('button', { type: 'button', class: 'explore' }, text);

  function field({ name, label, note, unit, least, most }) {
    const id = `calculator-${name}`;
    const input = element('input', { id, name, type: 'number', min: least, max: most, step: 'any', inputmode: 'decimal', 'aria-describedby': `${id}-note` });
    const described = element('span', { id: `${id}-note`, class: 'legend' }, note);
    return element('p', {}, element('label', { for: id }, label), element('span', { class: 'typed' }, input, ' ', unit), described);
  }

  const fields = element('div', { class: 'fields' }, ...data.settings.map(field));
  const presets = data.cases.map((own) => Object.assign(button(own.name), { onclick: () => choose(valuesOf(own)) }));
  const notice = element('p', { class: 'notice legend', role: 'status' });
  const spoken = element('p', { class: 'answer', 'aria-live': 'polite', 'aria-atomic': 'true' });
  const rows = element('tbody');
  const copy = button('copy link');
  const form = element('form', { class: 'service', 'aria-label': 'Your service', autocomplete: 'off', novalidate: '' });
  const heads = ['number', 'threads', 'tasks'].map((head) => element('th', { scope: 'col' }, head));
  const table = element('table', {}, element('thead', {}, element('tr', {}, ...heads)), rows);
  form.append(
    element('p', { class: 'presets' }, 'Begin with', ...presets),
    spoken,
    fields,
    notice,
    element('div', { class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'The numbers of your service' }, table),
    element('p', { class: 'link' }, copy),
  );

  /** A number and the ends of its interval, with as many decimals as three digits of the number need. */
  function digits(unit, numbers) {
    const own = numbers.map((number) => (unit === 'GiB' ? number / 2 ** 30 : number));
    const size = Math.abs(own[0]);
    const places = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
    // What rounds to nothing has no sign.
    const [value, ...ends] = own.map((number) => grouped(number.toFixed(places)).replace(/^-(?!.*[1-9])/, '').replace('-', '−'));
    return [size > 0 && size < 0.0005 ? '<0.001' : value, ...ends];
  }

  function cell(output, who, values) {
    const { median, low, high, missing } = compute(output, who, values);
    const own = element('td');
    if (median === undefined) {
      own.append(element('span', { class: 'missing' }, missing));
      return own;
    }
    const [value, from, to] = digits(output.unit, [median, low ?? median, high ?? median]);
    own.append(element('data', { value: median, 'data-output': output.name, 'data-who': who }, value));
    if (low !== undefined && from !== to) own.append(' ', element('span', { class: 'interval' }, `[${from}${from.startsWith('−') ? ' to ' : '–'}${to}]`));
    return own;
  }

  function show(values, notes) {
    const { state, text } = answer(values);
    // What has not changed is not said again.
    const word = text.slice(0, text.indexOf(':'));
    if (spoken.textContent !== text) spoken.replaceChildren(element('strong', {}, word), text.slice(word.length));
    spoken.dataset.state = state;
    notice.textContent = notes.length ? `${notes.join('; ')}.` : '';
    const label = (output) => (output.unit === 'GiB' ? `${output.label}, GiB` : output.label);
    const row = (output) => {
      const cells = whose(output).map((who) => cell(output, who, values));
      // What threads take beyond tasks has no number of a task's.
      if (cells.length === 1) cells.push(element('td'));
      return element('tr', {}, element('th', { scope: 'row' }, label(output)), ...cells);
    };
    rows.replaceChildren(...data.outputs.map(row));
  }

  let current;
  function set({ values, notes }) {
    current = values;
    for (const { name } of data.settings) form.elements[name].value = values[name];
    show(values, notes);
  }

  function choose(values) {
    set({ values, notes: [] });
    history.replaceState(null, '', address(values));
  }

  // Whoever is still typing is not interrupted; the address follows when a field is left.
  let waiting;
  const typed = () => read({ get: (name) => form.elements[name].value }, current);
  form.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const { values, notes } = typed();
      current = values;
      show(values, notes);
    }, 250);
  });
  form.addEventListener('change', () => {
    clearTimeout(waiting);
    const { values, notes } = typed();
    choose(values);
    show(values, notes);
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  // mdBook turns pages by the arrow keys and searches by a letter; in a field they are for the field.
  form.addEventListener('keydown', (event) => event.stopPropagation());
  copy.onclick = async () => {
    const link = new URL(address(current), location.href).href;
    // A page that was not fetched by https may have no clipboard.
    const write = async () => navigator.clipboard.writeText(link);
    copy.textContent = await write().then(() => 'link copied', () => 'could not copy');
  };

  source.before(form);
  set(fromAddress());
  window.addEventListener('hashchange', () => location.hash.includes('=') && set(fromAddress()));
})();
