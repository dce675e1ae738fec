// JSON as it was written: the order of members, the spelling of numbers, members that stand twice.

// Deeper than this a value is shown as its text.
const DEEPEST = 200;
// So many lines of one message are shown before one asks for all.
const MOST_LINES = 1500;
// So much of one text is shown before one asks for all of it.
const LONGEST_TEXT = 1200;

/**
 * Reads a JSON text into nodes: `{kind, start, end, members}` for objects (`{key, name, value}` each, `key` as written),
 * `{kind, start, end, items}` for arrays, `{kind, start, end}` for the rest. Throws on anything else.
 */
function readJson(text) {
  let at = 0;
  const space = () => { while (' \t\r\n'.includes(text[at]) && at < text.length) at += 1; };
  const wrong = () => { throw new SyntaxError(`no JSON at ${at}`); };
  const string = () => {
    const start = at;
    if (text[at] !== '"') wrong();
    at += 1;
    for (;;) {
      const end = text.indexOf('"', at);
      if (end < 0) wrong();
      let slashes = 0;
      while (text[end - 1 - slashes] === '\\') slashes += 1;
      at = end + 1;
      if (slashes % 2 === 0) return { kind: 'string', start, end: at };
    }
  };
  const value = (depth) => {
    space();
    const start = at;
    const first = text[at];
    if (depth > DEEPEST) wrong();
    if (first === '"') return string();
    if (first === '{' || first === '[') {
      at += 1;
      const close = first === '{' ? '}' : ']';
      const node = first === '{' ? { kind: 'object', start, members: [] } : { kind: 'array', start, items: [] };
      space();
      if (text[at] === close) at += 1;
      else {
        for (;;) {
          if (node.kind === 'object') {
            space();
            const key = string();
            const written = text.slice(key.start, key.end);
            space();
            if (text[at] !== ':') wrong();
            at += 1;
            node.members.push({ key: written, name: JSON.parse(written), value: value(depth + 1) });
          } else node.items.push(value(depth + 1));
          space();
          const next = text[at];
          at += 1;
          if (next === close) break;
          if (next !== ',') wrong();
        }
      }
      node.end = at;
      return node;
    }
    const word = /[-+.\w]+/y;
    word.lastIndex = at;
    const match = word.exec(text);
    if (!match) wrong();
    at += match[0].length;
    return { kind: /^[-\d]/.test(match[0]) ? 'number' : 'word', start, end: at };
  };
  const whole = value(0);
  space();
  if (at < text.length) wrong();
  return whole;
}

/** The member of an object node with this name; the last, as readers take it. */
function member(node, name) {
  return node?.members?.findLast((one) => one.name === name)?.value;
}

/** The names on the way of a JSON Pointer. */
function steps(pointer) {
  return pointer.split('/').slice(1).map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function child(node, step) {
  if (node.kind === 'object') return member(node, step);
  if (node.kind === 'array' && /^(0|[1-9]\d*)$/.test(step)) return node.items[Number(step)];
  return undefined;
}

/**
 * What pointers mark in a value: nodes, and for those that lead nowhere the deepest node on the way with the name that it
 * lacks. A pointer to the whole marks nothing, since then nothing in it stands out.
 */
function marksOf(node, pointers) {
  const marks = { nodes: new Set(), lacking: new Map() };
  for (const pointer of pointers) {
    const way = steps(pointer);
    let here = node;
    let missing;
    for (const step of way) {
      const next = child(here, step);
      if (next === undefined) {
        missing = step;
        break;
      }
      here = next;
    }
    if (missing !== undefined) {
      marks.lacking.set(here, [...new Set([...(marks.lacking.get(here) ?? []), missing])]);
    } else if (way.length > 0) marks.nodes.add(here);
  }
  return marks;
}

/** The lines of a value, indented: `{depth, pieces: [[class, text]], marked, lack}`. */
function linesOf(text, node, marks) {
  const lines = [];
  const add = (depth, pieces, marked, lack) => lines.push({ depth, pieces, marked, lack });
  const walk = (one, depth, before, comma, inside) => {
    const marked = inside || marks.nodes.has(one);
    const parts = one.members ?? one.items;
    const lacking = marks.lacking.get(one) ?? [];
    if (!parts || (parts.length === 0 && lacking.length === 0)) {
      add(depth, [...before, [one.kind, text.slice(one.start, one.end)], ['mark', comma]], marked);
      return;
    }
    const [open, close] = one.members ? '{}' : '[]';
    add(depth, [...before, ['mark', open]], marked);
    parts.forEach((part, index) => {
      const next = index + 1 < parts.length ? ',' : '';
      if (one.members) walk(part.value, depth + 1, [['key', part.key], ['mark', ': ']], next, marked);
      else walk(part, depth + 1, [], next, marked);
    });
    for (const name of lacking) add(depth + 1, [['lack', `has no ${JSON.stringify(name)}`]], true, true);
    add(depth, [['mark', close + comma]], marked);
  };
  walk(node, 0, [], '', false);
  return lines;
}

/** Shows a JSON text with what the pointers name marked; as plain text where it is no JSON. */
function jsonView(text, pointers = [], name = 'message') {
  let node;
  try {
    node = readJson(text);
  } catch {
    return textView(text, name);
  }
  const marks = marksOf(node, pointers);
  const lines = linesOf(text, node, marks);
  const box = make('div', { class: 'json', tabindex: '0', role: 'region', 'aria-label': name });
  const show = (from, to) => {
    for (const line of lines.slice(from, to)) box.append(jsonLine(line));
  };
  // What is marked is shown, however far down it stands.
  const last = lines.findLastIndex((line) => line.marked);
  const first = Math.min(lines.length, Math.max(MOST_LINES, Math.min(last + 20, 20 * MOST_LINES)));
  show(0, first);
  if (first < lines.length) {
    const more = make('button', {
      type: 'button', class: 'more',
      onclick: () => { more.remove(); show(first); },
    }, `Show ${count(lines.length - first, 'more line')}`);
    box.append(more);
  }
  return box;
}

function jsonLine(line) {
  const row = make('div', { class: line.marked ? 'line marked' : 'line' });
  row.style.setProperty('--depth', Math.min(line.depth, 24));
  if (line.marked) row.append(make('span', { class: 'unseen' }, 'marked: '));
  for (const [kind, text] of line.pieces) {
    if (text === '') continue;
    const piece = make('span', { class: `json-${kind}` });
    if (text.length > LONGEST_TEXT) long(piece, text);
    else put(piece, text);
    row.append(piece);
  }
  return row;
}

/** A long text, of which the start is shown until one asks for the rest. */
function long(place, text) {
  put(place, text.slice(0, LONGEST_TEXT));
  const more = make('button', {
    type: 'button', class: 'more',
    onclick: () => { place.replaceChildren(); put(place, text); },
  }, `… ${count(text.length - LONGEST_TEXT, 'more character')}`);
  place.append(more);
}

/** Shows a text as it is, line by line. */
function textView(text, name = 'text') {
  const box = make('div', { class: 'json plain', tabindex: '0', role: 'region', 'aria-label': name });
  const place = make('div', { class: 'line' });
  if (text.length > LONGEST_TEXT) long(place, text);
  else put(place, text);
  box.append(place);
  return box;
}
