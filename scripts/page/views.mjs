// What the views of the report show, and that an address leads to each part of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, recordingReady } from './browser.mjs';
import { failingPage, replayedPage } from './made.mjs';

const texts = (page, selector) => page.locator(selector).allTextContents();

test('the first view has the verdict, what failed, and a cell for each requirement', async () => {
  const { file, report } = failingPage();
  const page = await open(file);
  assert.equal(await page.locator('.verdict-word').textContent(), 'not-conformant');
  const failed = report.requirements.filter((one) => one.status === 'fail').map((one) => one.id);
  assert.ok(failed.length > 2, 'the run shows several failures');
  assert.deepEqual((await texts(page, '.card.fail h3 a')).sort(), failed.sort());
  const cells = await page.locator('.matrix a.cell').evaluateAll((all) => all.map((one) => [one.hash.slice(1), one.classList[1]]));
  assert.deepEqual(cells, report.requirements.map((one) => [one.id, one.status]));
  const shown = Object.fromEntries(await page.locator('.totals tbody tr').evaluateAll((rows) => rows.map((row) => [row.cells[0].textContent,
    [...row.cells].slice(1).map((cell) => Number(cell.textContent))])));
  for (const [level, states] of Object.entries(report.totals)) assert.deepEqual(shown[level], Object.values(states), level);
  assert.deepEqual(page.trouble, []);
  await page.close();
});

test('from a failure to its message and to the text of the specification it is two steps', async () => {
  const { file, report } = failingPage();
  const page = await open(file);
  const wanted = report.requirements.find((one) => one.id === 'CANCEL-02');
  const [finding] = wanted.findings;
  await page.locator('.card', { has: page.locator('#card-CANCEL-02') }).locator('a.go').click();
  await recordingReady(page, finding.scenario);
  assert.equal(await page.locator('#detail-title').textContent(), `Event ${finding.event}`);
  const marked = (await texts(page, '.detail .line.marked')).join(' ');
  assert.match(marked, /"error"/);
  assert.match(marked, /-32603/);
  const box = page.locator('.detail .finding.fail', { hasText: 'CANCEL-02' });
  assert.equal(await box.locator('a.outward').getAttribute('href'), wanted.cite[0]);
  assert.match(await box.textContent(), /Cancellation is not reported as an error/);
  assert.deepEqual(page.trouble, []);
  await page.close();
});

test('a requirement has its text, level, citation, findings with their commands, and its scenarios', async () => {
  const { file, report } = failingPage();
  const page = await open(file, '#CANCEL-01');
  const one = report.requirements.find((entry) => entry.id === 'CANCEL-01');
  assert.equal(await page.locator('h1').textContent(), 'CANCEL-01');
  const article = await page.locator('article.requirement').textContent();
  for (const part of [one.statement, 'must', one.findings[0].message, 'the text says MUST']) assert.ok(article.includes(part), part);
  const [command] = await texts(page, '.command code');
  assert.equal(command, `harness run --agent 'bob --surface everything --fault cancel-is-an-error' --only ${one.findings[0].scenario}`);
  assert.deepEqual(await page.locator('.requirement > .cites a').evaluateAll((all) => all.map((link) => link.getAttribute('href'))), one.cite);
  assert.ok((await texts(page, '.plain-list a')).includes('cancel/after-the-first-update'));
  assert.match(await page.title(), /^CANCEL-01/);
  assert.deepEqual(page.trouble, []);
  await page.close();
});

test('lists are narrowed by words, by level and by state, and an address can say so', async () => {
  const { file, report } = failingPage();
  const page = await open(file, '#requirements&state=fail');
  const ids = () => texts(page, '.entries strong');
  assert.deepEqual(await ids(), report.requirements.filter((one) => one.status === 'fail').map((one) => one.id));
  await page.getByLabel('State').selectOption('');
  await page.getByLabel('Search requirements').fill('cancel right behind');
  assert.deepEqual(await ids(), ['CANCEL-07']);
  await page.goto(`${page.url().replace(/#.*/, '')}#scenarios&state=fail`);
  const failed = report.scenarios.filter((one) => one.status === 'fail').map((one) => one.id);
  assert.deepEqual(await ids(), failed);
  assert.deepEqual(page.trouble, []);
  await page.close();
});

test('a replay shows its differences, and each leads to its event on both sides', async () => {
  const { file, report } = replayedPage();
  const page = await open(file, '#differences');
  assert.ok(report.differences.length > 5);
  assert.equal(await page.locator('.card.difference').count(), report.differences.length);
  const first = page.locator('.card.difference').first();
  await first.locator('.side.right a').click();
  await recordingReady(page, '1.0.3-cancel-in-permission.replay');
  const event = await page.locator('#detail-title').textContent();
  assert.ok(report.differences.some((one) => event === `Event ${one.right_event}`), event);
  assert.match(await page.locator('.detail').textContent(), /difference/);
  await page.locator('.detail .finding a').first().click();
  await page.waitForSelector('.card.difference:focus');
  await page.locator('.card.difference').first().locator('.side.left a').click();
  await recordingReady(page, '1.0.3-cancel-in-permission');
  assert.deepEqual(page.trouble, []);
  await page.close();
});

test('the switch of colours is kept, and begins with what the system has', async () => {
  const { file } = failingPage();
  const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const page = await open(file, '', { scheme: 'dark' });
  const dark = await ground(page);
  await page.locator('#theme').click();
  const light = await ground(page);
  assert.notEqual(dark, light);
  await page.reload();
  assert.equal(await ground(page), light);
  await page.locator('#theme').click();
  assert.equal(await ground(page), dark);
  await page.locator('#theme').click();
  await page.close();
});
