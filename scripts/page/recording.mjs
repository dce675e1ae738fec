// The sequence diagram and the event beside it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { open, recordingReady } from './browser.mjs';
import { failingPage } from './made.mjs';

const NAME = 'cancel/while-a-tool-runs';

/** The events of a scenario as they stand in its file. */
function eventsOf(report, name) {
  const { trace } = report.scenarios.find((one) => one.id === name);
  return readFileSync(trace, 'utf8').trim().split('\n').slice(1);
}

/** The exact text of the message in a line of a recording. */
const wireOf = (line) => line.slice(line.indexOf('"message":') + 10, -1);

test('an address opens a recording at an event, whose message is shown exactly', async () => {
  const { file, report } = failingPage();
  const lines = eventsOf(report, NAME);
  const number = lines.findIndex((line) => line.includes('"session/request_permission"'));
  const page = await open(file, `#trace=${NAME}&event=${number}`);
  await recordingReady(page, NAME);
  assert.equal(await page.locator('#detail-title').textContent(), `Event ${number}`);
  await page.locator('details.raw summary').click();
  assert.equal(await page.locator('details.raw .json').textContent(), wireOf(lines[number]));
  const pretty = (await page.locator('.detail > .json').first().locator('.line').allTextContents()).join('');
  assert.deepEqual(JSON.parse(pretty), JSON.parse(wireOf(lines[number])));
  assert.match(await page.locator('.row.chosen > .unseen').textContent(), /session\/request_permission/);
  assert.deepEqual(page.trouble, []);
  await page.close();
});

test('every event is in the picture, in the lane of who sent it', async () => {
  const { file, report } = failingPage();
  const lines = eventsOf(report, NAME);
  const page = await open(file, `#trace=${NAME}`, { height: 2400 });
  await recordingReady(page, NAME);
  await page.locator('#show-grouped').click();
  const rows = await page.locator('.row[role=option]:not(.is-gap)').evaluateAll((all) => all
    .sort((one, other) => one.offsetTop - other.offsetTop)
    .map((row) => [row.querySelector('.number').lastChild.textContent, row.querySelector('.arrow')?.classList[1]]));
  const arrow = (line) => {
    const event = JSON.parse(line);
    if (event.from === 'model') return event.request ? 'agent-model' : 'model-agent';
    if (!event.message) return undefined;
    return event.from === 'client' ? 'client-agent' : 'agent-client';
  };
  assert.deepEqual(rows, lines.map((line, number) => [String(number), arrow(line)]));
  assert.deepEqual(page.trouble, []);
  await page.close();
});

test('turns, tool calls, waits for a permission and exchanges are spans, and pauses are rows', async () => {
  const { file, report } = failingPage();
  const lines = eventsOf(report, NAME).map((line) => JSON.parse(line));
  const page = await open(file, `#trace=${NAME}`, { height: 2400 });
  await recordingReady(page, NAME);
  for (const kind of ['turn', 'tool', 'permission', 'model']) {
    assert.equal(await page.locator(`.span.${kind}.begins`).count(), await page.locator(`.span.${kind}.ends`).count(), kind);
    assert.ok(await page.locator(`.span.${kind}.begins`).count() >= 1, kind);
  }
  const pauses = lines.filter((line, index) => index > 0 && line.at - lines[index - 1].at >= 0.25).length;
  assert.equal(await page.locator('.row.is-gap').count(), pauses);
  await page.close();
});

test('a request and its answer lead to each other', async () => {
  const { file, report } = failingPage();
  const lines = eventsOf(report, NAME).map((line) => JSON.parse(line));
  const asks = lines.findIndex((line) => line.message?.method === 'session/prompt');
  const answers = lines.findIndex((line) => line.from === 'agent' && line.message?.id === lines[asks].message.id && !line.message.method);
  const page = await open(file, `#trace=${NAME}&event=${asks}`);
  await recordingReady(page, NAME);
  await page.locator('.relations button', { hasText: `event ${answers}` }).click();
  await page.waitForFunction((number) => document.querySelector('#detail-title').textContent === `Event ${number}`, answers);
  assert.match(page.url(), new RegExp(`event=${answers}$`));
  await page.locator('.relations button', { hasText: `event ${asks}` }).click();
  await page.waitForFunction((number) => document.querySelector('#detail-title').textContent === `Event ${number}`, asks);
  assert.ok(await page.locator('.row.joined').count() >= 1, 'the answer is shown in the picture');
  await page.close();
});

test('chunks that follow each other are one row with their text, and an address into it opens it', async () => {
  const { file, report } = failingPage();
  const chunk = (line) => line.message?.params?.update?.sessionUpdate === 'agent_message_chunk';
  const all = report.requirements.flatMap((one) => [...one.findings, ...(one.notes ?? [])]);
  // Which recordings have such chunks is not the same in every run: a cancel and stderr come when they come.
  const [name, lines, second] = report.scenarios.map(({ id, trace }) => {
    const lines = trace ? eventsOf(report, id).map((line) => JSON.parse(line)) : [];
    const marked = new Set(all.filter((one) => one.scenario === id).map((one) => one.event));
    // An event with a finding or a note has a row of its own.
    const joined = (number) => chunk(lines[number]) && !marked.has(number);
    return [id, lines, lines.findIndex((line, number) => number > 0 && joined(number) && joined(number - 1))];
  }).find(([, , second]) => second > 0) ?? [];
  assert.ok(second > 0, 'a recording has chunks that follow each other');
  const page = await open(file, `#trace=${name}&event=${second}`);
  await recordingReady(page, name);
  assert.equal(await page.locator('#detail-title').textContent(), `Event ${second}`);
  assert.equal(await page.locator('.row.chosen.inside').count(), 1);
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => document.querySelector('.detail h3')?.textContent.startsWith('Text of'));
  const words = lines[second].message.params.update.content.text;
  assert.ok((await page.locator('.detail .json').textContent()).includes(words));
  await page.close();
});

test('the filter narrows the rows, and an event that it hides is shown all the same when one asks for it', async () => {
  const { file } = failingPage();
  const page = await open(file, `#trace=${NAME}`);
  await recordingReady(page, NAME);
  await page.locator('#filter').fill('session/cancel');
  await page.waitForFunction(() => / of /.test(document.querySelector('.toolbar .status').textContent));
  assert.equal(await page.locator('.row[role=option]:not(.is-gap)').count(), 1);
  await page.goto(`${page.url().replace(/#.*/, '')}#trace=${NAME}&event=0`);
  await page.waitForFunction(() => document.querySelector('#detail-title')?.textContent === 'Event 0');
  assert.equal(await page.locator('#filter').inputValue(), '');
  assert.deepEqual(page.trouble, []);
  await page.close();
});
