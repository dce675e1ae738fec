// One event in full: what it belongs to, what was found in it, and its message with the offending member marked.

/** Shows an event in a place; `view` is the recording that is shown, `go` leads to another event. */
function showDetail(place, view, row, go) {
  const { trace } = view;
  const event = row.event ?? row.group[0];
  const marks = view.marksOf(row);
  const link = `#trace=${hashPart(trace.recording.name)}&event=${event.number}`;
  fill(place, 
    make('div', { class: 'detail-head' },
      make('h2', { id: 'detail-title' }, `Event ${event.number}`),
      make('p', { class: 'facts' }, `${way(event)} · ${event.at.toFixed(6)} s`),
      make('button', { type: 'button', class: 'small', onclick: (click) => copy(click.currentTarget, addressOf(link)) }, 'Copy link')),
    ...marks.filter((mark) => mark.failed).map(markBox),
    relations(view, event, go),
    ...(row.group ? [groupView(row)] : wireView(view, event, marks)),
    ...marks.filter((mark) => !mark.failed).map(markBox),
  );
  place.scrollTop = 0;
}

/** What was found here, with the way to the text that is cited. */
function markBox(mark) {
  if (mark.difference) {
    return make('div', { class: `finding ${mark.failed ? 'fail' : 'noticed'}` },
      make('p', {}, make('a', { href: `#difference=${mark.difference.number}` }, `${mark.difference.class} difference`)),
      make('p', {}, ...prose(mark.difference.message)));
  }
  const { requirement, finding, failed } = mark;
  return make('div', { class: failed ? 'finding fail' : 'finding noticed' },
    make('p', { class: 'finding-head' },
      stateMark(failed ? 'fail' : requirement.status, failed ? 'fails' : 'note on'), ' ',
      make('a', { href: `#${requirement.id}` }, requirement.id), ' ', levelMark(requirement.level)),
    make('p', {}, ...prose(finding.message)),
    make('p', { class: 'statement' }, ...prose(requirement.statement)),
    citations(requirement));
}

/** What an event is joined to: request and answer, turn, tool call. */
function relations(view, event, go) {
  const { trace } = view;
  const items = [];
  const jump = (number, words) => make('button', { type: 'button', class: 'link', onclick: () => go(number) }, words);
  const after = (one, other) => duration(Math.abs(one.at - other.at));
  if (event.joined !== undefined) {
    const other = trace.events[event.joined];
    if (other.number > event.number) items.push(['answered by', jump(other.number, `event ${other.number}`), ` after ${after(event, other)}`]);
    else items.push(['answers', jump(other.number, `event ${other.number}`), ` ${event.method ?? ''} after ${after(event, other)}`]);
  } else if (event.kind === 'request') items.push([make('strong', {}, 'never answered'), ' in this recording']);
  if (event.stray) items.push([make('strong', {}, 'answers no request'), ' that is open here']);
  for (const span of trace.joins.around(event.number, event.number)) {
    if (span === event.span && event.kind !== 'chunk' && event.kind !== 'status') continue;
    const name = { turn: span.label, tool: `tool call ${cut(span.label, 60)}`, permission: 'a wait for a permission', model: 'a model exchange' }[span.kind];
    if (!name) continue;
    const session = span.kind === 'turn' && trace.sessions.size > 1 ? ` of session ${trace.sessions.get(span.session)}` : '';
    const length = span.open ? 'not over' : duration(trace.events[span.to].at - trace.events[span.from].at);
    items.push(['within ', jump(span.from, name), `${session} (${length})`]);
  }
  if (event.probe !== undefined) items.push([`sent wrong on purpose: ${event.probe}`]);
  if (event.redacted) items.push(['secrets are replaced in it, so it is not byte for byte what was sent']);
  if (items.length === 0) return null;
  return make('ul', { class: 'relations' }, items.map((item) => make('li', {}, item.flatMap((part) => [part, ' ']))));
}

/** The message, indented with its marks, and as it was on the wire. */
function wireView(view, event, marks) {
  // Where something failed, that alone is marked; else what is noted.
  const failed = marks.filter((mark) => mark.failed && mark.finding);
  const told = failed.length > 0 ? failed : marks;
  const pointers = told.map((mark) => mark.finding?.path).filter((path) => typeof path === 'string');
  const { text, name, json } = bodyOf(view.trace, event);
  const pretty = json ? jsonView(text, pointers, name) : textView(text, name);
  if (!json && pointers.length > 0) pretty.classList.add('marked');
  const parts = [make('div', { class: 'wire-head' },
    make('h3', {}, name),
    make('button', { type: 'button', class: 'small', onclick: (click) => copy(click.currentTarget, text) }, 'Copy'))];
  parts.push(pretty);
  if (json) {
    const raw = make('details', { class: 'raw' }, make('summary', {}, 'As it was on the wire'));
    raw.addEventListener('toggle', () => {
      if (raw.open && raw.childElementCount === 1) raw.append(textView(text, 'As it was on the wire'));
    });
    parts.push(raw);
  }
  return parts;
}

/** What of an event is shown as its text. */
function bodyOf(trace, event) {
  const line = trace.line(event);
  try {
    if (event.kind === 'line' || event.kind === 'stderr') {
      const value = JSON.parse(line);
      if (value.base64 !== undefined) return { text: latin(value.base64), name: 'Bytes that are not UTF-8', json: false };
      return { text: value.line ?? value.stderr, name: event.kind === 'line' ? 'Line' : 'Line on stderr', json: false };
    }
    if (event.kind === 'chunk') {
      const { chunk } = JSON.parse(line);
      if (typeof chunk === 'string') return { text: chunk, name: 'Piece of the answer', json: false };
    }
    const wire = trace.written(event, 'message');
    if (wire !== undefined) return { text: wire, name: 'Message', json: true };
    const asked = event.kind === 'ask' ? trace.written(event, 'request') : undefined;
    if (asked !== undefined) return { text: asked, name: 'Request to the model', json: true };
  } catch {
    // Shown as the line of the recording.
  }
  return { text: line, name: 'Line of the recording', json: event.kind !== 'damage' };
}

/** Bytes as text: those beyond ASCII as `\xNN`. */
function latin(base64) {
  let bytes;
  try {
    bytes = bytesOf(base64);
  } catch {
    return base64;
  }
  const letter = (byte) => (byte < 128 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`);
  return Array.from(bytes, letter).join('');
}

/** Several chunks as the text that they make. */
function groupView(row) {
  const text = row.group.map((one) => one.text).join('');
  return make('div', {},
    make('div', { class: 'wire-head' }, make('h3', {}, `Text of ${count(row.group.length, 'chunk')}, events ${row.from} to ${row.to}`)),
    textView(text, 'Text of the chunks'),
    make('p', { class: 'hint' }, 'The arrow keys right and left open and close the row in the picture.'));
}
