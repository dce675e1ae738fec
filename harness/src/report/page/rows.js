// The rows of the picture of a recording: an event each, chunks that follow each other as one, and gaps in time.

// A pause of at least so many seconds is a row of its own.
const GAP = 0.25;

/** What of a recording is shown: words that must stand in the line, and kinds that are left out. */
class Choice {
  constructor() {
    this.words = '';
    this.session = '';
    this.model = true;
    this.stderr = true;
    this.findings = false;
    this.grouped = true;
  }

  get narrows() {
    return this.words !== '' || this.session !== '' || this.findings;
  }

  /** Whether an event is shown. */
  takes(event, trace, marked) {
    if (!this.model && event.exchange !== undefined) return false;
    if (!this.stderr && event.kind === 'stderr') return false;
    if (this.session && event.session !== this.session) return false;
    if (this.findings && !marked.has(event.number)) return false;
    if (this.words === '') return true;
    const wanted = this.words.toLowerCase();
    return `${event.method ?? ''} ${event.label}`.toLowerCase().includes(wanted)
      || trace.line(event).toLowerCase().includes(wanted);
  }
}

/** What events that follow each other must share to be one row; nothing where an event stands alone. */
function groupOf(event) {
  if (event.kind === 'chunk') return `model ${event.exchange}`;
  if (event.update?.endsWith('_chunk') && event.text !== undefined) {
    return `${event.update} ${event.session} ${event.messageId}`;
  }
  return undefined;
}

/**
 * The rows: `{event}`, `{group: [events]}` or `{gap: seconds, after, before}`; each with `from` and `to`, the events it stands
 * for. `opened` holds the first events of groups that are shown one by one; `marked` the events with findings.
 */
function rowsOf(trace, choice, opened, marked) {
  const rows = [];
  let before;
  let group;
  let key;
  for (const event of trace.events) {
    if (!choice.takes(event, trace, marked)) {
      group = undefined;
      continue;
    }
    const pause = before ? event.at - before.at : 0;
    if (pause >= GAP) {
      rows.push({ gap: pause, from: before.number, to: event.number });
      group = undefined;
    }
    const own = choice.grouped && !marked.has(event.number) ? groupOf(event) : undefined;
    if (own !== undefined && group && key === own) {
      group.events.push(event);
      group.to = event.number;
    } else if (own === undefined) {
      group = undefined;
      rows.push({ event, from: event.number, to: event.number });
    } else {
      group = { events: [event], from: event.number, to: event.number };
      key = own;
      rows.push(group);
    }
    before = event;
  }
  return laidOut(rows, opened);
}

/** The rows with groups of one as their event, and with the events of an opened group behind its head. */
function laidOut(rows, opened) {
  const all = [];
  for (const row of rows) {
    if (row.events === undefined) all.push(row);
    else if (row.events.length === 1) all.push({ event: row.events[0], from: row.from, to: row.to });
    else {
      const open = opened.has(row.from);
      all.push({ group: row.events, from: row.from, to: row.to, open });
      if (open) for (const event of row.events) all.push({ event, from: event.number, to: event.number, inside: true });
    }
  }
  return all;
}

/** The row that shows an event; -1 where none does. */
function rowOf(rows, number) {
  let low = 0;
  let high = rows.length - 1;
  let found = -1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const row = rows[middle];
    // A gap lies between its events and shows neither; the head of an opened group gives way to what is in it.
    const first = row.gap === undefined ? row.from : row.from + 0.5;
    if (first <= number) {
      found = middle;
      low = middle + 1;
    } else high = middle - 1;
  }
  const row = rows[found];
  return row && row.gap === undefined && row.from <= number && number <= row.to ? found : -1;
}

/** A message of the agent in one sentence, as a screen reader says it. */
function spoken(event) {
  const words = [`event ${event.number}`, way(event), event.label, event.detail, `at ${duration(event.at)}`];
  return words.filter(Boolean).map(visible).join(', ');
}

/** From whom to whom, in words. */
function way(event) {
  if (event.exchange !== undefined) return event.kind === 'ask' ? 'agent to model' : 'model to agent';
  if (event.kind === 'stderr') return 'agent on stderr';
  if (event.kind === 'end') return event.from === 'client' ? 'client' : 'agent';
  if (event.from === 'client') return 'client to agent';
  if (event.from === 'agent') return 'agent to client';
  return event.from === 'harness' ? 'harness' : 'unknown';
}
