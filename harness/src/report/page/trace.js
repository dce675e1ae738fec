// A recording: its lines as they were embedded, and of each line as much as the views need to know.

// How long the reading of a long recording goes on before the page gets its turn, in milliseconds.
const SLICE = 40;

/** Bytes of Base64 text. */
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let index = 0; index < letters.length; index += 1) bytes[index] = letters.charCodeAt(index);
  return bytes;
}

/** Gives the page its turn; a timer would add some milliseconds to each. */
function turn() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage('');
  });
}

/** The text of an embedded recording. */
async function unpacked(recording) {
  const packed = bytesOf(document.getElementById(recording.element).textContent.trim());
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

/** The lines of a recording, and what is known of them. */
class Trace {
  constructor(recording, text) {
    this.recording = recording;
    this.text = text;
    this.starts = [];
    this.events = [];
    this.sessions = new Map();
    this.joins = new Joins(this);
    this.cursor = 0;
    this.header = {};
    this.readHeader();
  }

  readHeader() {
    const end = this.lineEnd(0);
    try {
      this.header = JSON.parse(this.text.slice(0, end).replace(/^\ufeff/, ''));
    } catch {
      this.header = {};
    }
    this.cursor = end + 1;
  }

  lineEnd(from) {
    const end = this.text.indexOf('\n', from);
    return end < 0 ? this.text.length : end;
  }

  /** Reads on until `until` (a time in milliseconds); whether the end is reached. */
  read(until) {
    let sinceLook = 0;
    while (this.cursor < this.text.length) {
      const end = this.lineEnd(this.cursor);
      const line = this.text.slice(this.cursor, end).trim();
      const start = this.cursor;
      this.cursor = end + 1;
      // An empty line and the header of another process are no events.
      if (line === '' || line.startsWith('{"acptrace":')) continue;
      const event = eventOf(line, this.events.length);
      event.start = start;
      event.end = end;
      this.events.push(event);
      this.joins.take(event);
      sinceLook += 1;
      if (sinceLook >= 200) {
        sinceLook = 0;
        if (performance.now() > until) return false;
      }
    }
    this.joins.finish();
    return true;
  }

  /** Reads all, giving the page its turn; `progress` is called after each slice. */
  async readAll(progress) {
    while (!this.read(performance.now() + SLICE)) {
      progress(false);
      await turn();
    }
    progress(true);
  }

  /** The line of an event. */
  line(event) {
    return this.text.slice(event.start, event.end).trim();
  }

  /** The text of a member of an event's line, exactly as it stands there. */
  written(event, name) {
    const line = this.line(event);
    const node = member(readJson(line), name);
    return node && line.slice(node.start, node.end);
  }
}

/** An event. All members are there from the start: a hundred thousand objects that grow one by one are slow. */
class TraceEvent {
  constructor(number, value) {
    this.number = number;
    this.at = Number(value?.at) || 0;
    this.from = value?.from;
    this.kind = 'other';
    this.label = '';
    this.detail = undefined;
    this.method = undefined;
    this.id = undefined;
    this.session = undefined;
    this.update = undefined;
    this.text = undefined;
    this.messageId = undefined;
    this.tool = undefined;
    this.exchange = undefined;
    this.span = undefined;
    this.joined = undefined;
    this.start = 0;
    this.end = 0;
  }
}

/**
 * What is known of an event: who did it, its kind, its method, id and session, and the words that stand for it in the diagram.
 * Kinds: `request`, `answer`, `error`, `notice`, `odd` (a message that is none of these), `line`, `stderr`, `ask`, `status`,
 * `chunk`, `done` (of the model), `end` (of a stream or process), `harness`, `damage`, `other`.
 */
function eventOf(line, number) {
  let value;
  try {
    value = JSON.parse(line);
  } catch {
    value = undefined;
  }
  const event = new TraceEvent(number, value);
  if (value === null || typeof value !== 'object') {
    event.kind = 'damage';
    event.label = 'a line that cannot be read';
    return event;
  }
  if (value.probe !== undefined) event.probe = String(value.probe);
  if (value.redacted === true) event.redacted = true;
  if (value.message !== undefined) messageEvent(event, value.message);
  else if (value.line !== undefined || (value.base64 !== undefined && value.from !== 'model' && value.stderr === undefined)) {
    event.kind = 'line';
    event.label = cut(value.line ?? 'bytes that are not UTF-8', 120);
  } else if (value.stderr !== undefined) {
    event.kind = 'stderr';
    event.label = cut(value.stderr, 160);
  } else if (value.exchange !== undefined) modelEvent(event, value);
  else otherEvent(event, value);
  return event;
}

function messageEvent(event, message) {
  if (message === null || typeof message !== 'object' || Array.isArray(message)) {
    event.kind = 'odd';
    return;
  }
  if (message.id !== undefined) event.id = `${typeof message.id}:${String(message.id)}`;
  if (typeof message.method === 'string') {
    event.kind = event.id === undefined ? 'notice' : 'request';
    event.method = message.method;
    const { params } = message;
    if (typeof params?.sessionId === 'string') event.session = params.sessionId;
    describe(event, params);
  } else if (message.error !== undefined) {
    event.kind = 'error';
    event.label = `error ${cut(message.error?.code ?? '', 20)} ${cut(message.error?.message ?? '', 120)}`.trim();
  } else if (message.result !== undefined) {
    event.kind = 'answer';
    event.label = resultWords(message.result);
    if (typeof message.result?.sessionId === 'string') event.session = message.result.sessionId;
  } else {
    event.kind = 'odd';
    event.label = 'no request, notification or answer';
  }
}

/** What a request or notification is about, in a few words. */
function describe(event, params) {
  event.label = event.method;
  const say = (words) => { event.detail = cut(words ?? '', 120); };
  switch (event.method) {
    case 'session/prompt': say(quoted(textOf(params?.prompt))); break;
    case 'session/request_permission': say(params?.toolCall?.title); event.tool = params?.toolCall?.toolCallId; break;
    case 'terminal/create': say([params?.command, ...list(params?.args)].join(' ')); break;
    case 'fs/read_text_file': case 'fs/write_text_file': say(params?.path); break;
    case 'session/set_mode': say(params?.modeId); break;
    case '$/cancel_request': say(String(params?.requestId ?? '')); break;
    case 'session/update': updateWords(event, params?.update, say); break;
    default: break;
  }
}

function updateWords(event, update, say) {
  const kind = update?.sessionUpdate;
  if (typeof kind !== 'string') return;
  event.update = kind;
  event.label = kind;
  if (kind.endsWith('_chunk')) {
    event.text = textOf([update.content]);
    event.messageId = update.messageId;
    say(quoted(event.text));
  } else if (kind === 'tool_call' || kind === 'tool_call_update') {
    event.tool = update.toolCallId;
    event.status = update.status;
    event.title = update.title;
    say([update.title, update.status].filter((word) => typeof word === 'string').join(' · '));
  } else if (kind === 'plan') say(count(list(update.entries).length, 'entry', 'entries'));
  else if (kind === 'current_mode_update') say(update.currentModeId);
  else if (kind === 'session_info_update') say(update.title);
}

function textOf(blocks) {
  return list(blocks).map((block) => (typeof block?.text === 'string' ? block.text : `[${block?.type ?? 'content'}]`)).join('');
}

const quoted = (text) => `“${text}”`;

function resultWords(result) {
  if (result === null || typeof result !== 'object') return cut(JSON.stringify(result), 80);
  if (typeof result.stopReason === 'string') return result.stopReason;
  if (result.outcome !== undefined) return [result.outcome?.outcome, result.outcome?.optionId].filter(Boolean).join(' · ');
  for (const name of ['sessionId', 'terminalId', 'protocolVersion', 'content', 'output', 'exitCode']) {
    if (typeof result[name] === 'string' || typeof result[name] === 'number') return `${name} ${cut(result[name], 80)}`;
  }
  const names = Object.keys(result);
  return names.length ? cut(names.join(', '), 80) : '{}';
}

function modelEvent(event, value) {
  event.exchange = value.exchange;
  if (value.request !== undefined || value.unreadable !== undefined) {
    event.kind = 'ask';
    event.label = String(value.path ?? 'request');
    const messages = value.request?.messages ?? value.request?.input ?? value.request?.contents;
    event.detail = Array.isArray(messages) ? count(messages.length, 'message') : undefined;
    if (value.side) event.detail = 'beside the conversation';
  } else if (value.status !== undefined) {
    event.kind = 'status';
    event.label = `status ${value.status}`;
    event.bad = value.status >= 400;
  } else if (value.end !== undefined) {
    event.kind = 'done';
    event.label = String(value.end);
    event.bad = value.end !== 'complete';
  } else {
    event.kind = 'chunk';
    event.text = typeof value.chunk === 'string' ? chunkText(value.chunk) : '';
    event.label = 'chunk';
    event.detail = event.text ? quoted(cut(event.text, 80)) : undefined;
  }
}

/** The text in a piece of a model's answer, whatever interface it is of. */
function chunkText(chunk) {
  let text = '';
  for (const match of chunk.matchAll(/"(?:content|text|delta|arguments|partial_json)":\s*("(?:[^"\\]|\\.)*")/g)) {
    try {
      text += JSON.parse(match[1]);
    } catch {
      // A piece may end within a text.
    }
  }
  return cut(text, 500);
}

function otherEvent(event, value) {
  if (value.eof !== undefined) {
    event.kind = 'end';
    event.label = value.from === 'client' ? 'closes stdin' : 'closes stdout';
  } else if (value.exit !== undefined) {
    event.kind = 'end';
    event.label = value.exit?.signal === undefined ? `exit code ${value.exit?.code}` : `ended by signal ${value.exit.signal}`;
    event.bad = value.exit?.code !== 0;
    event.exit = true;
  } else if (value.signal !== undefined) {
    event.kind = 'harness';
    event.label = `sends signal ${value.signal}`;
  } else if (value.unanswered !== undefined) {
    event.kind = 'harness';
    event.label = `gave up waiting for the answer to ${JSON.stringify(value.unanswered)} after ${duration(value.seconds)}`;
    event.unanswered = `${typeof value.unanswered}:${String(value.unanswered)}`;
    event.bad = true;
  } else if (value.left !== undefined) {
    event.kind = 'harness';
    event.label = `left running: ${list(value.left).join(', ')}`;
    event.bad = true;
  } else if (value.closed !== undefined || value.ended !== undefined) {
    event.kind = 'harness';
    event.label = value.ended === undefined ? `${value.closed} no longer reads` : `the recording ends: ${cut(value.ended, 120)}`;
  } else event.label = 'an event of a later version';
}
