// Text of others, and the elements that show it. Nothing here, and nothing that uses it, makes markup of a text.

// What is no visible text: control characters, marks for the direction of writing, what has no width, halves of pairs.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u034f\u115f\u1160\u3164\uffa0]/gu;

/** The text with every hidden character as a visible escape. */
function visible(text) {
  return String(text).replace(HIDDEN, escaped);
}

function escaped(character) {
  const code = character.codePointAt(0);
  const digits = code.toString(16).padStart(4, '0');
  return code > 0xffff ? `\\u{${digits}}` : `\\u${digits}`;
}

/** Appends a text to an element; escapes of hidden characters look different from the same letters in the text. */
function put(element, text) {
  const whole = String(text);
  let from = 0;
  for (const match of whole.matchAll(HIDDEN)) {
    if (match.index > from) element.append(whole.slice(from, match.index));
    const escape = document.createElement('span');
    escape.className = 'escape';
    escape.textContent = escaped(match[0]);
    element.append(escape);
    from = match.index + match[0].length;
  }
  if (from < whole.length) element.append(whole.slice(from));
  return element;
}

/**
 * Makes an element. `attributes` may hold listeners (`onclick`); a child is a node, a text, or nothing.
 * A link leads into this page or to the web, nowhere else.
 */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'href' && !/^(#|https:\/\/)/.test(value)) continue;
    else element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat()) {
    if (child === undefined || child === null || child === false) continue;
    if (child instanceof Node) element.append(child);
    else put(element, child);
  }
  return element;
}

/** Puts children in the place of those that are there; what is nothing is left out. */
function fill(place, ...children) {
  place.replaceChildren(...children.flat().filter((child) => child instanceof Node));
}

/** A link out of the page. */
function outward(url, text) {
  return make('a', { href: url, rel: 'noreferrer noopener', target: '_blank', class: 'outward' }, text);
}

/** Text in which what stands between backticks is code. */
function prose(text) {
  return String(text).split('`').map((part, index) => (index % 2 ? make('code', {}, part) : part));
}

/** The start of a text, with a mark where it goes on. */
function cut(text, length) {
  const whole = String(text);
  return whole.length > length ? `${whole.slice(0, length)}…` : whole;
}

/** A duration in words: `84 µs`, `12 ms`, `1.6 s`, `3 min 5 s`. */
function duration(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(seconds < 9.95 ? 1 : 0)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** A size in bytes, in words. */
function size(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1e6) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** `1 event`, `2 events`. */
function count(number, word, many = `${word}s`) {
  return `${number.toLocaleString('en')} ${number === 1 ? word : many}`;
}

// ---- States, told by a sign and a word besides the colour

const STATES = ['pass', 'fail', 'inconclusive', 'not-applicable', 'not-exercised'];
const SIGNS = { pass: '✓', fail: '✕', inconclusive: '?', 'not-applicable': '–', 'not-exercised': '·' };
const LEVELS = ['must', 'should', 'interop', 'may', 'observe'];

function stateOf(state) {
  return STATES.includes(state) ? state : 'inconclusive';
}

/** The sign and the word of a state. */
function stateMark(state, word = state) {
  const sign = make('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[stateOf(state)]);
  return make('span', { class: `state ${stateOf(state)}` }, sign, word);
}

function levelMark(level) {
  return make('span', { class: `level ${level}` }, level);
}

// ---- Copying

/** Copies a text, and says on the button that it did. */
async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make('textarea', { class: 'unseen', 'aria-hidden': 'true', tabindex: '-1' });
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
    button.focus();
  }
  announce('Copied');
}

/** Tells a screen reader, and shows for a moment. */
function announce(words) {
  const place = document.getElementById('announcement');
  place.textContent = words;
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => { place.textContent = ''; }, 2500);
}
