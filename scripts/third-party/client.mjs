#!/usr/bin/env node
// A client on the npm package `@agentclientprotocol/sdk` that holds one of the
// conversations of conversations.json with an agent.
// Usage: client.mjs CONVERSATION COMMAND [ARGS...]
//
//   SDK   the folder where the package is installed   (target/third-party/sdk-ts)
//
// The folder of the session is the current one. The exit code is 1 if the
// conversation did not go as the table has it.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const here = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const installed = resolve(process.env.SDK ?? join(here, "../../target/third-party/sdk-ts"));
const sdk = createRequire(join(installed, "any.js")).resolve("@agentclientprotocol/sdk");
const acp = await import(pathToFileURL(sdk).href);

const [name, ...command] = process.argv.slice(2);
const conversation = JSON.parse(readFileSync(join(here, "conversations.json"), "utf8"))[name];
if (!conversation || command.length === 0) {
  console.error("usage: client.mjs CONVERSATION COMMAND [ARGS...]; the conversations are in conversations.json");
  process.exit(2);
}

/** The names of the sessions in the table, and the ids that the agent gave them. */
const sessions = new Map();
/** The turn that runs in a session, by the session's id. */
const turns = new Map();

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
    [this.cancelWhen, this.count = 1] = step.cancelWhen ?? [];
  }

  /** Counts what the cancel waits for, and cancels when there was enough of it. */
  async saw(moment) {
    if (moment !== this.cancelWhen || --this.count > 0) return;
    this.cancelWhen = undefined;
    await this.context.notify("session/cancel", { sessionId: this.sessionId });
  }

  async permission(options) {
    await this.saw("asked");
    const kind = this.answers.shift();
    const option = options.find((option) => option.kind === kind);
    if (kind !== "cancelled" && !option) notPlanned(`a permission request, while the next answer is ${kind}`);
    return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
  }
}

async function onUpdate({ sessionId, update }) {
  const turn = turns.get(sessionId);
  if (update.sessionUpdate === "agent_message_chunk") await turn?.saw("text");
  if (update.status === "in_progress") await turn?.saw("running");
}

async function open(context, name, step) {
  const cwd = join(process.cwd(), step.cwd ?? "");
  const { sessionId } = await context.request("session/new", { cwd, mcpServers: step.mcpServers ?? [] });
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
  await started;
  turns.delete(sessionId);
}

/** An error of the agent is part of the conversation; whatever else fails is not. */
async function tolerate(request) {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof acp.RequestError)) throw error;
    console.error(`answered with error ${error.code}: ${error.message}`);
  }
}

/** `{cwd}` and `{session}` in what the table has the client send. */
function withCwd(value) {
  const text = JSON.stringify(value).replaceAll("{cwd}", process.cwd());
  return JSON.parse(text.replaceAll("{session}", sessions.get("main")));
}

async function take(context, step) {
  if (step.together) await Promise.all(step.together.map((step) => prompt(context, step)));
  else if (step.new) await open(context, step.new, step);
  else if (step.call) await tolerate(context.request(step.call, withCwd(step.params)));
  else if (step.notify) await context.notify(step.notify, withCwd(step.params));
  else await prompt(context, step);
}

const agent = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise((end) => agent.on("exit", end));
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
await acp
  .client({ name: "sdk-ts" })
  .onRequest("session/request_permission", ({ params }) => {
    const turn = turns.get(params.sessionId);
    return turn ? turn.permission(params.options) : notPlanned("a permission request without a turn");
  })
  .onNotification("session/update", ({ params }) => onUpdate(params))
  .connectWith(stream, async (context) => {
    await context.request("initialize", {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: {},
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
