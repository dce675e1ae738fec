// A recording of a hundred thousand events.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, recordingReady } from './browser.mjs';
import { long } from './reports.mjs';

const EVENTS = 100_000;
// From the start of loading the page until the last event is read, in milliseconds of work of the page's thread.
const LIMIT = 2000;

test('a hundred thousand events open in under two seconds and scroll through a list of few elements', async () => {
  const file = await long(EVENTS);
  // What else the machine does must not decide: the time that the thread of the page works counts, which on an idle machine is
  // the time that one waits. Both are told.
  const page = await open(file, '#trace=long', { measured: true });
  await recordingReady(page, 'long');
  const work = await page.work();
  const waited = await page.evaluate(() => performance.getEntriesByName('ready').at(-1).startTime);
  console.log(`  100,000 events opened in ${Math.round(work)} ms of work, ${Math.round(waited)} ms on the clock`);
  assert.ok(work > 50 && work < LIMIT, `opened in ${work} ms of work`);
  assert.equal(await page.locator('.toolbar .status').textContent(), '100,000 events');

  const seen = () => page.evaluate(() => {
    const box = document.getElementById('log').getBoundingClientRect();
    const rows = [...document.querySelectorAll('.row[role=option]')];
    const inside = rows.filter((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      return bottom > box.top && top < box.bottom;
    });
    return { drawn: rows.length, covered: inside.length * inside[0].offsetHeight, height: box.height };
  });
  for (const part of [0.1, 0.37, 0.5, 0.99, 1, 0]) {
    await page.evaluate(async (share) => {
      const log = document.getElementById('log');
      log.scrollTop = share * (log.scrollHeight - log.clientHeight);
      await new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); });
    }, part);
    const { drawn, covered, height } = await seen();
    assert.ok(drawn < 150, `${drawn} rows are drawn`);
    assert.ok(covered >= height, `at ${part} the rows cover ${covered} of ${height}`);
  }

  await page.locator('#log').focus();
  await page.keyboard.press('End');
  await page.waitForFunction((last) => document.querySelector('#detail-title').textContent === `Event ${last}`, EVENTS - 1);
  const spent = await page.evaluate(async () => {
    const log = document.getElementById('log');
    const from = performance.now();
    for (let step = 0; step < 60; step += 1) {
      log.scrollTop -= 300;
      await new Promise(requestAnimationFrame);
    }
    return (performance.now() - from) / 60;
  });
  console.log(`  a step of scrolling takes ${spent.toFixed(1)} ms`);
  assert.ok(spent < 100, `a step of scrolling takes ${spent} ms`);

  await page.locator('#filter').fill('Question 1999');
  await page.waitForFunction(() => document.querySelector('.toolbar .status').textContent === '1 of 100,000 events');
  await page.goto(`${page.url().replace(/#.*/, '')}#trace=long&event=77777`);
  await page.waitForFunction(() => document.querySelector('#detail-title').textContent === 'Event 77777');
  assert.ok(await page.locator('.row.chosen').isVisible());
  assert.deepEqual(page.trouble, []);
  await page.close();
});
