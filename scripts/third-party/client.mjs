#!/usr/bin/env node
// A client on the npm package `@agentclientprotocol/sdk` that holds one of the
// conversations of conversations.json with an agent.
// Usage: client.mjs CONVERSATION COMMAND [ARGS...]
//
//   SDK     the folder where the package is installed   (target/third-party/sdk-ts-example)
//   TABLE   the table                                   (conversations.json)
//
// The folder of the session is the current one. The exit code is 1 if the
// conversation did not go as the table has it.

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const here = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const installed = resolve(process.env.SDK ?? join(here, "../../target/third-party/sdk-ts-example"));
const sdk = createRequire(join(installed, "any.js")).resolve("@agentclientprotocol/sdk");
const acp = await import(pathToFileURL(sdk).href);

const [name, ...command] = process.argv.slice(2);
const table = process.env.TABLE ?? join(here, "conversations.json");
const conversation = JSON.parse(readFileSync(table, "utf8"))[name];
if (!conversation || command.length === 0) {
  console.error(`usage: client.mjs CONVERSATION COMMAND [ARGS...]; the conversations are in ${table}`);
  process.exit(2);
}

/** The names of the sessions in the table, and the ids that the agent gave them. */
const sessions = new Map();
/** The turn that runs in a session, by the session's id. */
const turns = new Map();

/** What was seen since the step began, a line each, for what the table has under `sees`. */
let seen = [];

let failed = 0;
/** Says what the table does not have, and goes on: the request is answered as cancelled. */
function notPlanned(what) {
  console.error(`${name}: not planned: ${what}`);
  failed = 1;
  return { outcome: { outcome: "cancelled" } };
}

/** One prompt of the table while it runs: how it answers, and when it cancels. */
class Turn {
  constructor(context, sessionId, step) {
    this.context = context;
    this.sessionId = sessionId;
    this.answers = [...(step.answers ?? [])];
    this.replies = [...(step.replies ?? [])];
    [this.cancelWhen, this.count = 1] = step.cancelWhen ?? [];
  }

  /** Counts what the cancel waits for, and cancels when there was enough of it. */
  async saw(moment) {
    if (moment !== this.cancelWhen || --this.count > 0) return;
    this.cancelWhen = undefined;
    await this.context.notify("session/cancel", { sessionId: this.sessionId });
  }

  async permission({ toolCall, options }) {
    seen.push(`permission: ${toolCall.title} (${options.map((option) => option.kind).join(", ")})`);
    await this.saw("asked");
    const kind = this.answers.shift();
    const option = options.find((option) => option.kind === kind);
    if (kind !== "cancelled" && !option) notPlanned(`a permission request, while the next answer is ${kind}`);
    return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
  }
}

/** The programs that run for the agent, by the id of their terminal. */
const terminals = new Map();

class Terminal {
  constructor({ command, args, cwd }) {
    this.output = "";
    // A group of its own, so that a kill reaches what the program started too.
    this.program = spawn(command, args ?? [], { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.program.stdout, this.program.stderr]) stream.on("data", (data) => (this.output += data));
    this.ended = new Promise((end) => this.program.on("close", (exitCode, signal) => end({ exitCode, signal })));
  }

  kill() {
    if (this.program.exitCode === null && this.program.signalCode === null) process.kill(-this.program.pid, "SIGKILL");
  }
}

/** What the agent may ask of the client beside permissions. */
const served = {
  "fs/read_text_file": ({ path }) => {
    try {
      return { content: readFileSync(path, "utf8") };
    } catch (error) {
      throw new acp.RequestError(-32002, `there is no ${path.split("/").at(-1)}: ${error.code}`);
    }
  },
  "fs/write_text_file": ({ path, content }) => writeFileSync(path, content),
  "terminal/create": (params) => {
    const terminalId = `terminal-of-the-client-${terminals.size + 1}`;
    terminals.set(terminalId, new Terminal(params));
    return { terminalId };
  },
  "terminal/wait_for_exit": async ({ sessionId, terminalId }) => {
    await turns.get(sessionId)?.saw("waited");
    return terminals.get(terminalId).ended;
  },
  "terminal/output": ({ terminalId }) => ({ output: terminals.get(terminalId).output, truncated: false }),
  "terminal/kill": ({ terminalId }) => terminals.get(terminalId).kill(),
  "terminal/release": ({ terminalId }) => terminals.get(terminalId).kill(),
  "elicitation/create": async ({ sessionId, message }) => {
    seen.push(`question: ${message}`);
    const turn = turns.get(sessionId);
    await turn?.saw("asked");
    return turn?.replies.shift() ?? { action: "cancel" };
  },
};

/** Notes what a user would see of an update. */
function note(update) {
  const { sessionUpdate: kind, content } = update;
  if (kind.endsWith("_chunk")) seen.push(`${kind}: ${content.text}`);
  else if (kind === "plan") seen.push(`plan: ${update.entries.map((entry) => `${entry.content} ${entry.status}`).join(", ")}`);
  else if (kind.startsWith("tool_call")) {
    seen.push(`${kind}: ${update.title ?? ""} ${update.status ?? ""}`);
    for (const part of content ?? []) {
      if (part.type === "diff") seen.push(`diff: ${part.oldText ?? ""} => ${part.newText}`);
      else if (part.type === "terminal") seen.push(`terminal: ${terminals.get(part.terminalId)?.output}`);
      else seen.push(`content: ${part.content.text}`);
    }
  } else seen.push(`${kind}: ${JSON.stringify(update)}`);
}

async function onUpdate({ sessionId, update }) {
  const turn = turns.get(sessionId);
  note(update);
  if (update.sessionUpdate === "agent_message_chunk") await turn?.saw("text");
  if (update.status === "in_progress") await turn?.saw("running");
}

async function open(context, name, step) {
  const cwd = join(process.cwd(), step.cwd ?? "");
  const { sessionId } = await context.request("session/new", { cwd, mcpServers: withCwd(step.mcpServers ?? []) });
  sessions.set(name, sessionId);
}

async function prompt(context, step) {
  const name = step.session ?? "main";
  if (!sessions.has(name)) await open(context, name, {});
  const sessionId = sessions.get(name);
  const turn = new Turn(context, sessionId, step);
  turns.set(sessionId, turn);
  const blocks = typeof step.prompt === "string" ? [{ type: "text", text: step.prompt }] : withCwd(step.prompt);
  const started = tolerate(context.request("session/prompt", { sessionId, prompt: blocks }));
  await turn.saw("sent");
  const answer = await started;
  if (answer) seen.push(`stopReason: ${answer.stopReason}`);
  turns.delete(sessionId);
}

/** An error of the agent is part of the conversation; whatever else fails is not. */
async function tolerate(request) {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof acp.RequestError)) throw error;
    seen.push(`error: ${error.code} ${JSON.stringify(error.data)}`);
    console.error(`answered with error ${error.code}: ${error.message}`);
  }
}

/** `{cwd}` and `{session}` in what the table has the client send. */
function withCwd(value) {
  const text = JSON.stringify(value).replaceAll("{cwd}", process.cwd());
  return JSON.parse(text.replaceAll("{session}", sessions.get("main")));
}

async function take(context, step) {
  seen = [];
  await act(context, step);
  const missing = () => (step.sees ?? []).filter((expected) => !seen.some((line) => line.includes(expected)));
  // The package hands over updates behind the answer that followed them.
  for (const limit = Date.now() + 2000; missing().length > 0 && Date.now() < limit; ) await setTimeout(10);
  for (const expected of missing()) notPlanned(`not seen: ${expected}\n  ${seen.join("\n  ")}`);
}

async function act(context, step) {
  if (step.together) await Promise.all(step.together.map((step) => act(context, step)));
  else if (step.new) await open(context, step.new, step);
  else if (step.call) {
    const answer = await tolerate(context.request(step.call, withCwd(step.params)));
    if (answer) seen.push(`answer: ${JSON.stringify(answer)}`);
  }
  else if (step.notify) await context.notify(step.notify, withCwd(step.params));
  else await prompt(context, step);
}

const agent = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise((end) => agent.on("exit", end));
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const client = acp.client({ name: "sdk-ts" });
for (const [method, serve] of Object.entries(served)) {
  client.onRequest(method, async ({ params }) => {
    seen.push(method);
    return (await serve(params)) ?? {};
  });
}
await client
  .onNotification("elicitation/complete", () => void seen.push("elicitation/complete"))
  .onRequest("session/request_permission", ({ params }) => {
    const turn = turns.get(params.sessionId);
    return turn ? turn.permission(params) : notPlanned("a permission request without a turn");
  })
  .onNotification("session/update", ({ params }) => onUpdate(params))
  .connectWith(stream, async (context) => {
    await context.request("initialize", {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: conversation.capabilities ?? {},
      clientInfo: { name: "sdk-ts", version: "1.0.0" },
    });
    for (const step of conversation.steps) await take(context, step);
  })
  .catch((error) => {
    console.error(`${name}: ${error.stack ?? error}`);
    failed = 1;
  });
agent.stdin.end();
await ended;
process.exit(failed);
