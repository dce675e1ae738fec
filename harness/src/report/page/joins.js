// What belongs together in a recording: requests and answers, turns, tool calls, waits for a permission, exchanges.

// So many spans are drawn side by side in one lane.
const PLACES = 5;

/** Joins the events of a recording, one by one; `spans` are what lasts: `{kind, lane, from, to, label, open}`. */
class Joins {
  constructor(trace) {
    this.trace = trace;
    this.spans = [];
    this.open = { client: new Map(), agent: new Map() };
    this.tools = new Map();
    this.exchanges = new Map();
    this.turns = new Map();
    this.hasModel = false;
  }

  /** Takes the next event. */
  take(event) {
    if (event.session !== undefined && event.session !== this.last) this.session(event.session);
    if (event.kind === 'request') this.request(event);
    else if (event.kind === 'answer' || event.kind === 'error') this.answer(event);
    else if (event.exchange !== undefined) this.exchange(event);
    if (event.update === 'tool_call' || event.update === 'tool_call_update') this.tool(event);
    if (event.unanswered !== undefined) {
      const span = this.open.client.get(event.unanswered);
      if (span) event.span = span;
    }
  }

  /** The number of a session, from 1. */
  session(id) {
    const { sessions } = this.trace;
    this.last = id;
    if (!sessions.has(id)) sessions.set(id, sessions.size + 1);
    return sessions.get(id);
  }

  begin(kind, lane, event, label) {
    const span = { kind, lane, from: event.number, to: Infinity, label, start: event.at };
    this.spans.push(span);
    return span;
  }

  end(span, event) {
    span.to = event.number;
    span.seconds = event.at - span.start;
  }

  request(event) {
    const asks = event.from === 'agent' ? 'agent' : 'client';
    const lane = asks === 'client' ? 'agent' : 'client';
    let span;
    if (event.method === 'session/prompt') {
      const turn = (this.turns.get(event.session) ?? 0) + 1;
      this.turns.set(event.session, turn);
      span = this.begin('turn', lane, event, `turn ${turn}`);
      span.session = event.session;
    } else if (event.method === 'session/request_permission') {
      span = this.begin('permission', lane, event, 'wait for a permission');
    } else span = this.begin('request', lane, event, event.method);
    span.method = event.method;
    event.span = span;
    // An id that is used again while it is open is a new request: the first stays without an answer.
    this.open[asks].set(event.id, span);
  }

  answer(event) {
    const asks = event.from === 'agent' ? 'client' : 'agent';
    const span = this.open[asks].get(event.id);
    if (!span) {
      event.stray = true;
      return;
    }
    this.open[asks].delete(event.id);
    this.end(span, event);
    event.span = span;
    event.joined = span.from;
    event.method = span.method;
    const request = this.trace.events[span.from];
    request.joined = event.number;
    event.session ??= request.session;
  }

  exchange(event) {
    this.hasModel = true;
    if (event.kind === 'ask' || !this.exchanges.has(event.exchange)) {
      this.exchanges.set(event.exchange, this.begin('model', 'model', event, 'model'));
    }
    const span = this.exchanges.get(event.exchange);
    event.span = span;
    if (event.kind === 'done') {
      this.end(span, event);
      event.joined = span.from;
      this.trace.events[span.from].joined = event.number;
      this.exchanges.delete(event.exchange);
    }
  }

  tool(event) {
    const key = JSON.stringify([event.session, event.tool]);
    let span = this.tools.get(key);
    if (!span && event.update === 'tool_call') {
      span = this.begin('tool', 'agent', event, event.title ?? 'tool call');
      this.tools.set(key, span);
    }
    if (!span) return;
    event.toolSpan = span;
    if (event.status === 'completed' || event.status === 'failed') {
      this.end(span, event);
      this.tools.delete(key);
    }
  }

  /** At the end of the recording: what is open stays open to its last event, and each span gets a place beside the others. */
  finish() {
    const last = this.trace.events.length - 1;
    for (const span of this.spans) {
      if (span.to === Infinity) {
        span.to = last;
        span.open = true;
      }
    }
    const taken = { client: [], agent: [], model: [] };
    for (const span of this.spans) {
      const ends = taken[span.lane];
      let place = ends.findIndex((end) => end < span.from);
      // More than so many side by side are not drawn, which also keeps the blocks small.
      if (place < 0 && ends.length < PLACES) place = ends.length;
      if (place < 0) continue;
      ends[place] = span.to;
      span.place = place;
    }
    this.index();
  }

  /** The spans by blocks of events, so that those around a row are found at once. */
  index() {
    this.blocks = [];
    for (const span of this.spans.filter((one) => one.place !== undefined)) {
      for (let block = span.from >> 8; block <= span.to >> 8; block += 1) {
        (this.blocks[block] ??= []).push(span);
      }
    }
  }

  /** The spans that touch the events `from` to `to`. */
  around(from, to) {
    const found = new Set();
    for (let block = from >> 8; block <= to >> 8; block += 1) {
      for (const span of this.blocks?.[block] ?? []) {
        if (span.from <= to && span.to >= from) found.add(span);
      }
    }
    return found;
  }
}
