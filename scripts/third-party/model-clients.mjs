// Asks the scripted model through the official client packages and checks what they make of its replies.
//
// Each interface gets a server of its own with model-clients.toml, and takes its replies in order: each check below is one
// request. CLIENTS is the folder with the packages, HARNESS the binary. With arguments, only these interfaces are asked.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import { createInterface } from 'node:readline';

const load = createRequire(`${process.env.CLIENTS}/`);
const OpenAI = load('openai');
const Anthropic = load('@anthropic-ai/sdk');
const { GoogleGenAI } = load('@google/genai');

const MODEL = 'some-model';
const PATCH = '*** Begin Patch\n*** End Patch\n';
const text = (type, description) => ({ type, description });
const SCHEMAS = {
  bash: { type: 'object', properties: { command: text('string', 'The command.') }, required: ['command'] },
  read_file: { type: 'object', properties: { path: text('string', 'The path.') }, required: ['path'] },
};
const LOOK = { name: 'bash', input: { command: 'ls -a' } };
const PAIR = [
  { name: 'bash', input: { command: "echo 'ü'" } },
  { name: 'read_file', input: { path: 'a.txt' } },
];

// What each client makes of a reply, in one form: text, thoughts, calls, usage, stop, refusal.
const clients = {
  chat(base, key) {
    const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0 });
    const tools = Object.entries(SCHEMAS).map(([name, parameters]) => ({ type: 'function', function: { name, parameters } }));
    tools.push({ type: 'custom', custom: { name: 'apply_patch', description: 'Takes a patch.' } });
    const read = (completion, thoughts) => {
      const { message, finish_reason: stop } = completion.choices[0];
      return {
        text: message.content ?? '',
        thoughts: thoughts ?? message.reasoning_content ?? '',
        calls: (message.tool_calls ?? []).map((call) => (call.custom
          ? { name: call.custom.name, input: call.custom.input }
          : { name: call.function.name, input: JSON.parse(call.function.arguments) })),
        usage: [completion.usage.prompt_tokens, completion.usage.completion_tokens],
        stop,
        refusal: message.refusal ?? '',
      };
    };
    return {
      client,
      errors: OpenAI,
      plain: true,
      stops: { said: 'stop', calls: 'tool_calls', length: 'length', refusal: 'stop' },
      overloaded: [503, 'InternalServerError'],
      context: (error) => error.code === 'context_length_exceeded',
      async ask(words, stream, seen) {
        const request = { model: MODEL, messages: [{ role: 'user', content: words }], tools };
        if (!stream) return read(await client.chat.completions.create(request));
        // The packages' own collector knows no custom tools, so the chunks are put together here.
        const chunks = await client.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } });
        const message = { content: '', reasoning_content: '', refusal: '', tool_calls: [] };
        let stop; let usage;
        for await (const chunk of chunks) {
          usage = chunk.usage ?? usage;
          const choice = chunk.choices[0];
          if (!choice) continue;
          stop = choice.finish_reason ?? stop;
          for (const name of ['content', 'reasoning_content', 'refusal']) message[name] += choice.delta[name] ?? '';
          if (choice.delta.content) seen?.(choice.delta.content);
          for (const part of choice.delta.tool_calls ?? []) {
            const kind = part.custom ? 'custom' : 'function';
            const call = message.tool_calls[part.index] ??= { [kind]: { name: '', arguments: '', input: '' } };
            for (const name of ['name', 'arguments', 'input']) call[kind][name] += part[kind][name] ?? '';
          }
        }
        return read({ choices: [{ message, finish_reason: stop }], usage });
      },
      async collected(words) {
        const request = { model: MODEL, messages: [{ role: 'user', content: words }], tools: tools.slice(0, 2) };
        const stream = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
        return read(await stream.finalChatCompletion());
      },
      async models() {
        const list = [];
        for await (const model of client.models.list()) list.push(model.id);
        return [list, (await client.models.retrieve('scripted')).id];
      },
    };
  },

  responses(base, key) {
    const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0 });
    const tools = Object.entries(SCHEMAS).map(([name, parameters]) => ({ type: 'function', name, parameters, strict: false }));
    tools.push({ type: 'custom', name: 'apply_patch', description: 'Takes a patch.' });
    const read = (response) => {
      const of = (type) => response.output.filter((item) => item.type === type);
      const parts = of('message').flatMap((item) => item.content);
      return {
        text: response.output_text,
        thoughts: of('reasoning').flatMap((item) => item.summary).map((part) => part.text).join(''),
        calls: [
          ...of('function_call').map((call) => ({ name: call.name, input: JSON.parse(call.arguments) })),
          ...of('custom_tool_call').map((call) => ({ name: call.name, input: call.input })),
        ],
        usage: [response.usage.input_tokens, response.usage.output_tokens],
        stop: response.incomplete_details?.reason ?? response.status,
        refusal: parts.filter((part) => part.type === 'refusal').map((part) => part.refusal).join(''),
      };
    };
    return {
      client,
      errors: OpenAI,
      plain: true,
      stops: { said: 'completed', calls: 'completed', length: 'max_output_tokens', refusal: 'completed' },
      overloaded: [503, 'InternalServerError'],
      context: (error) => error.code === 'context_length_exceeded',
      async ask(words, stream, seen) {
        const request = { model: MODEL, instructions: 'Be kind.', input: words, tools };
        if (!stream) return read(await client.responses.create(request));
        const events = client.responses.stream(request);
        let number = 0;
        for await (const event of events) {
          if (event.sequence_number !== number) throw new Error(`event ${number} has the number ${event.sequence_number}`);
          number += 1;
          if (event.type === 'response.output_text.delta') seen?.(event.delta);
        }
        return read(await events.finalResponse());
      },
      async count() {
        return (await client.responses.inputTokens.count({ model: MODEL, input: 'How long?' })).input_tokens;
      },
      async models() {
        const list = [];
        for await (const model of client.models.list()) list.push(model.id);
        return [list, (await client.models.retrieve('scripted')).id];
      },
    };
  },

  messages(base, key) {
    const client = new Anthropic({ baseURL: base, apiKey: key, maxRetries: 0 });
    const tools = Object.entries(SCHEMAS).map(([name, schema]) => ({ name, input_schema: schema }));
    const read = (message) => {
      const of = (type) => message.content.filter((block) => block.type === type);
      return {
        text: of('text').map((block) => block.text).join(''),
        thoughts: of('thinking').map((block) => block.thinking).join(''),
        calls: of('tool_use').map(({ name, input }) => ({ name, input })),
        usage: [message.usage.input_tokens, message.usage.output_tokens],
        stop: message.stop_reason,
        refusal: message.stop_details?.explanation ?? '',
      };
    };
    return {
      client,
      errors: Anthropic,
      stops: { said: 'end_turn', calls: 'tool_use', length: 'max_tokens', refusal: 'refusal' },
      overloaded: [529, 'OverloadedError'],
      context: (error) => error.type === 'invalid_request_error' && error.message.includes('prompt is too long'),
      async ask(words, stream, seen) {
        const request = { model: MODEL, max_tokens: 1000, system: 'Be kind.', messages: [{ role: 'user', content: words }], tools };
        if (!stream) return read(await client.messages.create(request));
        const events = client.messages.stream(request);
        events.on('text', (delta) => seen?.(delta));
        return read(await events.finalMessage());
      },
      async count() {
        const question = { model: MODEL, messages: [{ role: 'user', content: 'How long?' }] };
        const both = [await client.messages.countTokens(question), await client.beta.messages.countTokens(question)];
        return both[0].input_tokens && both[1].input_tokens;
      },
      async models() {
        const list = [];
        for await (const model of client.models.list()) list.push(model.id);
        return [list, (await client.models.retrieve('scripted')).id];
      },
    };
  },

  gemini(base, key) {
    const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: base } });
    const capitals = (value) => JSON.parse(JSON.stringify(value), (name, part) => (name === 'type' && typeof part === 'string' ? part.toUpperCase() : part));
    const tools = [{
      functionDeclarations: [
        { name: 'bash', parameters: capitals(SCHEMAS.bash) },
        { name: 'read_file', parametersJsonSchema: SCHEMAS.read_file },
      ],
    }];
    const read = (chunks) => {
      const candidates = chunks.map((chunk) => chunk.candidates[0]);
      const parts = candidates.flatMap((candidate) => candidate.content?.parts ?? []);
      const last = chunks.at(-1);
      return {
        text: parts.filter((part) => part.text && !part.thought).map((part) => part.text).join(''),
        thoughts: parts.filter((part) => part.text && part.thought).map((part) => part.text).join(''),
        calls: parts.filter((part) => part.functionCall).map((part) => ({ name: part.functionCall.name, input: part.functionCall.args })),
        usage: [last.usageMetadata.promptTokenCount, last.usageMetadata.candidatesTokenCount],
        stop: last.candidates[0].finishReason,
        // The package drops the words of a refusal (`finishMessage`), and keeps which rating blocked.
        refusal: (last.candidates[0].safetyRatings ?? []).filter((rating) => rating.blocked).map((rating) => rating.category).join(''),
      };
    };
    return {
      client,
      errors: {},
      refusal: 'HARM_CATEGORY_DANGEROUS_CONTENT',
      stops: { said: 'STOP', calls: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' },
      overloaded: [503, 'ApiError'],
      context: (error) => JSON.parse(error.message).error.message.includes('exceeds the maximum number of tokens'),
      hint: (error) => JSON.parse(error.message).error.details.some((detail) => detail['@type'].endsWith('RetryInfo') && detail.retryDelay === '1s'),
      async ask(words, stream, seen) {
        const request = { model: MODEL, contents: words, config: { systemInstruction: 'Be kind.', tools, httpOptions: { retryOptions: { attempts: 1 } } } };
        if (!stream) return read([await client.models.generateContent(request)]);
        const chunks = [];
        for await (const chunk of await client.models.generateContentStream(request)) {
          chunks.push(chunk);
          const said = chunk.candidates?.[0]?.content?.parts?.[0]?.text;
          if (said) seen?.(said);
        }
        return read(chunks);
      },
      async count() {
        return (await client.models.countTokens({ model: MODEL, contents: 'How long?' })).totalTokens;
      },
      async models() {
        const list = [];
        for await (const model of await client.models.list()) list.push(model.name.replace('models/', ''));
        return [list, (await client.models.get({ model: 'scripted' })).name.replace('models/', '')];
      },
    };
  },
};

/** Starts `harness model`, and gives its address, its key and what ends it. */
async function serve() {
  const script = new URL('model-clients.toml', import.meta.url).pathname;
  const server = spawn(process.env.HARNESS, ['model', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const log = [];
  createInterface({ input: server.stderr }).on('line', (line) => log.push(line));
  const variables = {};
  for await (const line of createInterface({ input: server.stdout })) {
    const [, name, value] = line.match(/^export (\w+)=(.*)$/) ?? [];
    if (name) variables[name] = value;
    if (name === 'OPENAI_HOST') break;
  }
  const ended = new Promise((done) => server.on('exit', (code) => done(code)));
  const end = async () => { server.kill('SIGTERM'); return ended; };
  return { base: variables.ANTHROPIC_BASE_URL, key: variables.ANTHROPIC_API_KEY, log, end };
}

let failures = 0;

async function check(name, run) {
  let problem;
  try { problem = await run(); } catch (error) { problem = `${error.name}: ${error.message}`; }
  if (problem) failures += 1;
  console.log(problem ? `  FAIL  ${name}: ${problem}` : `  ok    ${name}`);
}

/** What is wrong with a reply; undefined if it is as wanted. */
function differs(found, wanted) {
  for (const [name, value] of Object.entries(wanted)) {
    if (!isDeepStrictEqual(found[name], value)) return `${name} is ${JSON.stringify(found[name])}, wanted ${JSON.stringify(value)}`;
  }
  return undefined;
}

/** What is wrong with the error that a request ends with. */
async function fails(asking, status, kind, also) {
  let reply;
  try { reply = await asking; } catch (error) {
    if (status && error.status !== status) return `status ${error.status}, wanted ${status}: ${error.message}`;
    const name = error.constructor.name.replace(/^_/, '');
    if (kind && name !== kind) return `it is a ${name}, wanted ${kind}: ${error.message}`;
    return also && !also(error) ? `it lacks what belongs to it: ${error.message}` : undefined;
  }
  return `no error, but ${JSON.stringify(reply)}`;
}

async function interfaceOf(name) {
  console.log(name);
  const { base, key, log, end } = await serve();
  const asker = clients[name](base, key);
  const { stops } = asker;
  let number = 0;
  const ask = (stream, seen) => { number += 1; return asker.ask(`Question ${number}`, stream, seen); };
  const both = async (what, wanted) => {
    for (const stream of [false, true]) {
      await check(`${what}, ${stream ? 'streamed' : 'whole'}`, async () => differs(await ask(stream), wanted));
    }
  };
  await both('text and usage', { text: 'Hello, wörld ✓', calls: [], usage: [11, 7], stop: stops.said, refusal: '' });
  await both('reasoning', { thoughts: 'Let me think. Yes.', text: 'So it is.', stop: stops.said });
  await both('one call', { text: 'I look.', calls: [LOOK], stop: stops.calls });
  await both('parallel calls', { text: '', calls: PAIR, stop: stops.calls });
  await both('a tool that takes plain text', { calls: [{ name: 'apply_patch', input: asker.plain ? PATCH : { input: PATCH } }] });
  await both('refusal', { text: '', refusal: asker.refusal ?? 'I will not do that.', stop: stops.refusal });
  await both('too long', { text: 'And so on', stop: stops.length });
  const hint = asker.hint ?? ((error) => error.headers.get('retry-after') === '1');
  const kind = (usual) => (asker.errors.APIError ? usual : 'ApiError');
  for (const stream of [false, true]) {
    await check(`rate limit, ${stream ? 'streamed' : 'whole'}`, () => fails(ask(stream), 429, kind('RateLimitError'), hint));
  }
  await check('overloaded', () => fails(ask(false), ...asker.overloaded));
  await check('context too long', () => fails(ask(true), 400, kind('BadRequestError'), asker.context));
  await check('status 401', () => fails(ask(false), 401, kind('AuthenticationError')));
  await check('status 404', () => fails(ask(false), 404, kind('NotFoundError'), (error) => error.message.includes('No such model.')));
  await check('status 500', () => fails(ask(true), 500, kind('InternalServerError')));
  await check('cut, whole', () => fails(ask(false)));
  let heard = '';
  await check('cut, streamed', () => fails(ask(true, (delta) => { heard += delta; })));
  await check('the text before the cut', () => (heard === 'This is cut' ? undefined : JSON.stringify(heard)));
  await check('slow first byte', async () => {
    const start = performance.now();
    const problem = differs(await ask(true), { text: 'At last.' });
    return problem ?? (performance.now() - start < 1400 ? 'it came too soon' : undefined);
  });
  await check('beyond the script', async () => differs(await ask(true), { text: 'Done.' }));
  if (asker.collected) {
    await check('the collector of the package', async () => differs(await asker.collected('Question'), { text: 'Done.' }));
  }
  if (asker.count) await check('token count', async () => ((await asker.count()) > 0 ? undefined : 'no number'));
  await check('models', async () => {
    const [list, one] = await asker.models();
    return isDeepStrictEqual([list, one], [[MODEL, 'scripted'], 'scripted']) ? undefined : JSON.stringify([list, one]);
  });
  await check('the server ends when told to', async () => {
    const code = await end();
    return code === 0 ? undefined : `exit code ${code}`;
  });
  const side = log.filter((line) => line.includes('beside the script') && !/models|token count|greeting/.test(line));
  await check('nothing is taken for a side request', () => side.join('; ') || undefined);
}

const names = process.argv.slice(2);
for (const name of names.length ? names : Object.keys(clients)) await interfaceOf(name);
console.log(failures ? `${failures} failed` : 'all as it should be');
process.exitCode = failures ? 1 : 0;
