// The reports that the tests look at: real runs of the agent that is built in, and what is made of them.

import { execFileSync, spawnSync } from 'node:child_process';
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { folder } from './browser.mjs';

const HARNESS = resolve(process.env.HARNESS);

function harness(...words) {
  const ran = spawnSync(HARNESS, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (ran.error) throw ran.error;
  // 1 says that something was found, which is what these reports are about.
  if (ran.status !== 0 && ran.status !== 1) throw new Error(`harness ${words.join(' ')}: exit code ${ran.status}\n${ran.stderr}`);
  return ran;
}

const at = (name) => join(folder, name);

/** A run in which something fails: cancelled turns are answered with an error. */
export function failing() {
  harness('run', '--agent', 'bob --surface everything --fault cancel-is-an-error', '--only', 'CANCEL,init/handshake,toolcall/*',
    '--keep', at('failing'), '--report', `html=${at('failing.html')}`, '--report', `json=${at('failing.json')}`, '-q');
  return { file: at('failing.html'), report: JSON.parse(readFileSync(at('failing.json'))) };
}

/** A replay of a recording of another surface, so that there are differences. */
export function replayed() {
  harness('replay', 'traces/1.0.3-cancel-in-permission.jsonl', '--agent', 'bob --surface everything', '--keep', at('replayed'),
    '--report', `html=${at('replayed.html')}`, '--report', `json=${at('replayed.json')}`, '-q');
  return { file: at('replayed.html'), report: JSON.parse(readFileSync(at('replayed.json'))) };
}

/** The page of a report that is written by hand. */
export function pageOf(report, name) {
  writeFileSync(at(`${name}.json`), JSON.stringify(report));
  execFileSync(HARNESS, ['report', at(`${name}.json`), '--report', `html=${at(`${name}.html`)}`]);
  return at(`${name}.html`);
}

// What must have no effect: markup of many kinds, marks that turn the text round, control characters.
export const HOSTILE = '"><script>window.hit=1</script><img src=x onerror="window.hit=1"><a href="javascript:window.hit=1">x</a>'
  + '</script><style>*{display:none}</style><!-- {{script}} \u202eturned\u2066\u2067\u200b\u200d\ufeff\u001b[31m\u001b]0;t\u0007\u0000\u009b2J\u2028\u{e0041}\r\n&lt;b&gt;';
// In a recording half of a pair may stand, too.
const IN_TRACE = `${HOSTILE}\ud800`;

/** The value with hostile text in every text and every name that is not `kept`. */
function poisoned(value, kept, poison, name) {
  if (typeof value === 'string') return kept.has(name) ? value : value + poison;
  if (Array.isArray(value)) return value.map((one) => poisoned(one, kept, poison, name));
  if (value === null || typeof value !== 'object') return value;
  const all = Object.entries(value).map(([key, one]) => [key, poisoned(one, kept, poison, key)]);
  if (kept.has('extra')) all.push([`x${poison}`, poison]);
  return Object.fromEntries(all);
}

/** A report and recordings in which everything that an agent writes is hostile. */
export function hostile({ report }) {
  const keptInReport = new Set(['id', 'level', 'basis', 'status', 'verdict', 'revision', 'schema', 'home', 'model', 'trace', 'cite', 'path',
    'class', 'change', 'blocked_by', 'failed', 'known', 'recording', 'traces']);
  const bad = poisoned(report, keptInReport, HOSTILE);
  bad.blocked = HOSTILE;
  bad.advice = [HOSTILE];
  bad.faults = [{ scenario: HOSTILE, message: HOSTILE }];
  bad.stale = [{ id: 'CANCEL-01', why: HOSTILE }];
  const wire = new Set(['jsonrpc', 'method', 'sessionUpdate', 'from', 'type', 'extra']);
  let number = 0;
  const traces = new Map();
  for (const scenario of bad.scenarios) {
    const lines = readFileSync(scenario.trace, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
    lines[0].about = HOSTILE;
    const events = lines.slice(1).map((event) => poisoned(event, wire, IN_TRACE));
    events.push({ at: 9, from: 'agent', line: HOSTILE }, { at: 9, from: 'agent', stderr: HOSTILE }, { at: 9, from: 'agent', base64: '//48c2NyaXB0Pg==' },
      { at: 9, from: 'harness', left: [HOSTILE] }, { at: 9, from: 'harness', unanswered: HOSTILE, seconds: 1 },
      { at: 9, from: 'client', message: { jsonrpc: '2.0', id: HOSTILE, method: HOSTILE, params: HOSTILE }, probe: HOSTILE },
      { at: 9, from: HOSTILE, ended: HOSTILE }, { at: 9, from: 'model', exchange: HOSTILE, path: HOSTILE, request: HOSTILE });
    const path = at(`hostile-${number += 1}.jsonl`);
    traces.set(scenario.trace, path);
    writeFileSync(path, `${[lines[0], ...events].map((event) => JSON.stringify(event)).join('\n')}\n${HOSTILE.replaceAll(/[\r\n]/g, '')}\n`);
    scenario.trace = path;
  }
  const follow = (one) => { if (traces.has(one?.trace)) one.trace = traces.get(one.trace); };
  for (const one of bad.requirements) {
    [one.shown, ...one.findings, ...(one.notes ?? [])].forEach(follow);
  }
  return pageOf(bad, 'hostile');
}

/** A recording of so many events, as a long session has them, in a report on it. */
export async function long(events) {
  const path = at('long.jsonl');
  harness('check', 'traces/edit-diff.jsonl', '--report', `json=${at('small.json')}`, '-q');
  const out = createWriteStream(path);
  const session = 'session-of-the-long-recording';
  const line = async (event) => { if (!out.write(`${JSON.stringify(event)}\n`)) await once(out, 'drain'); };
  await line({ acptrace: 1, recorded: '2026-01-01T00:00:00Z', by: 'harness', command: ['bob'], about: 'A long session' });
  const update = (update) => ({ from: 'agent', message: { jsonrpc: '2.0', method: 'session/update', params: { sessionId: session, update } } });
  for (let number = 0; number < events; number += 1) {
    const turn = Math.floor(number / 50);
    const step = number % 50;
    let event;
    if (step === 0) event = { from: 'client', message: { jsonrpc: '2.0', id: turn, method: 'session/prompt', params: { sessionId: session, prompt: [{ type: 'text', text: `Question ${turn}` }] } } };
    else if (step === 49) event = { from: 'agent', message: { jsonrpc: '2.0', id: turn, result: { stopReason: 'end_turn' } } };
    else if (step % 12 === 1) event = update({ sessionUpdate: 'tool_call', toolCallId: `call-${number}`, title: `Read file ${number}`, kind: 'read', status: 'pending', rawInput: { path: `src/file-${number}.rs` } });
    else if (step % 12 === 2) event = update({ sessionUpdate: 'tool_call_update', toolCallId: `call-${number - 1}`, status: 'completed', content: [{ type: 'content', content: { type: 'text', text: `line ${number}\n`.repeat(20) } }] });
    else event = update({ sessionUpdate: step % 2 ? 'agent_message_chunk' : 'agent_thought_chunk', content: { type: 'text', text: `word ${number} ` } });
    await line({ at: number / 1000, ...event });
  }
  out.end();
  await once(out, 'finish');
  const report = JSON.parse(readFileSync(at('small.json')));
  report.recordings[0].trace = path;
  report.scenarios[0].trace = path;
  report.scenarios[0].id = path;
  return pageOf(report, 'long');
}
