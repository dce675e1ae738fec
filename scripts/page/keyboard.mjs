// The page without a mouse.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, recordingReady } from './browser.mjs';
import { failingPage } from './made.mjs';

const focused = (page) => page.evaluate(() => {
  const one = document.activeElement;
  return one.id || one.hash || one.className;
});

test('from the search to a requirement and back by keys alone', async () => {
  const { file } = failingPage();
  const page = await open(file, '#requirements');
  await page.keyboard.press('/');
  assert.equal(await focused(page), 'filter');
  await page.keyboard.type('cancel-0');
  await page.keyboard.press('Enter');
  assert.equal(await focused(page), '#CANCEL-01');
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(page), '#CANCEL-02');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'CANCEL-02');
  assert.equal(await focused(page), 'title');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Requirements');
  await page.keyboard.press('Escape');
  await page.waitForSelector('.verdict');
  assert.deepEqual(page.trouble, []);
  await page.close();
});

test('the matrix is one stop of the tab key, and the arrow keys move in it', async () => {
  const { file } = failingPage();
  const page = await open(file);
  assert.equal(await page.locator('.matrix [tabindex="0"]').count(), 1);
  await page.locator('.matrix [tabindex="0"]').focus();
  const first = await focused(page);
  await page.keyboard.press('ArrowRight');
  const second = await focused(page);
  assert.notEqual(first, second);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await focused(page), first);
  assert.equal(await page.locator('.matrix [tabindex="0"]').count(), 1);
  await page.close();
});

test('in a recording the arrow keys choose, n finds the failure, Enter goes to the message and Escape back', async () => {
  const { file, report } = failingPage();
  const name = 'cancel/twice';
  const event = report.requirements.find((one) => one.id === 'CANCEL-02').findings.find((one) => one.scenario === name).event;
  const page = await open(file, `#trace=${name}&event=0`);
  await recordingReady(page, name);
  assert.equal(await focused(page), 'log');
  await page.keyboard.press('ArrowDown');
  // A pause is a row as well.
  if (await page.locator('.row.chosen.is-gap').count() === 1) await page.keyboard.press('ArrowDown');
  assert.match(await page.locator('.row.chosen > .unseen').textContent(), /^event 1,/);
  const active = await page.locator('#log').getAttribute('aria-activedescendant');
  assert.equal(await page.locator(`#${active}`).getAttribute('aria-selected'), 'true');
  for (let step = 0; step < 5; step += 1) {
    await page.keyboard.press('n');
    if ((await page.locator('.row.chosen > .unseen').textContent()).startsWith(`event ${event},`)) break;
  }
  assert.match(await page.locator('.row.chosen > .unseen').textContent(), /fails CANCEL-02/);
  await page.keyboard.press('Enter');
  assert.match(await focused(page), /detail/);
  await page.keyboard.press('Escape');
  assert.equal(await focused(page), 'log');
  assert.deepEqual(page.trouble, []);
  await page.close();
});

test('the help lists the keys, and single keys can be switched off', async () => {
  const { file } = failingPage();
  const page = await open(file);
  await page.keyboard.press('?');
  assert.ok(await page.locator('#help').evaluate((one) => one.open));
  await page.locator('#single-keys').uncheck();
  await page.keyboard.press('Escape');
  assert.ok(!(await page.locator('#help').evaluate((one) => one.open)));
  await page.keyboard.press('?');
  assert.ok(!(await page.locator('#help').evaluate((one) => one.open)));
  await page.locator('#help-button').click();
  await page.locator('#single-keys').check();
  await page.locator('#help-close').click();
  await page.close();
});
