// For everybody: what axe-core finds, narrow windows and large zoom, and pictures of the main views to look at.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axe, open, recordingReady } from './browser.mjs';
import { failingPage, replayedPage } from './made.mjs';

const NAME = 'cancel/while-a-tool-runs';

/** The main views: a name, the page, the address. */
const views = () => [
  ['overview', failingPage().file, ''],
  ['requirements', failingPage().file, '#requirements'],
  ['requirement', failingPage().file, '#CANCEL-02'],
  ['scenarios', failingPage().file, '#scenarios'],
  ['recording', failingPage().file, `#trace=${NAME}`],
  ['differences', replayedPage().file, '#differences'],
];

async function opened([name, file, hash], size) {
  const page = await open(file, hash, size);
  if (name === 'recording') await recordingReady(page, NAME);
  return page;
}

async function shot(page, name) {
  if (process.env.PAGE_SHOTS) await page.screenshot({ path: `${process.env.PAGE_SHOTS}/${name}.png` });
}

/** What stands beyond the window; the picture and wide tables scroll by themselves. */
function beyond() {
  const room = document.documentElement.clientWidth;
  const out = [...document.querySelectorAll('body *')].filter((one) => {
    const box = one.getBoundingClientRect();
    if (box.width === 0 || one.closest('.picture, .wide, .unseen, .skip, dialog, script')) return false;
    return box.right > room + 1 || box.left < -13;
  });
  const sideways = document.documentElement.scrollWidth > room ? ['the page scrolls sideways'] : [];
  return [...sideways, ...out.slice(0, 3).map((one) => one.outerHTML.slice(0, 120))];
}

/** How far things moved while the page was opened. */
function moved() {
  return new Promise((resolve) => {
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) sum += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => resolve(sum), 300);
  });
}

async function faults(page, options) {
  const { violations } = await page.evaluate((given) => window.axe.run(document, { resultTypes: ['violations'], ...given }), options);
  return violations.flatMap((one) => one.nodes.slice(0, 3).map((node) => `${one.id}: ${node.html.slice(0, 160)} ${node.failureSummary}`));
}

for (const [index, name] of ['overview', 'requirements', 'requirement', 'scenarios', 'recording', 'differences'].entries()) {
  test(`${name}: axe-core finds nothing, nothing jumps, and it can be read at 320 pixels`, async () => {
    const view = views()[index];
    const page = await opened(view);
    assert.ok(await page.evaluate(moved) < 0.05, 'something jumps');
    assert.equal(await page.locator('h1').count(), 1);
    assert.equal(await page.locator('nav[aria-label="Views"] [aria-current]').count(), 1);
    await page.evaluate(axe);
    assert.deepEqual(await faults(page, {}), [], 'light');
    await shot(page, `${name}-wide-light`);
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await faults(page, { runOnly: ['color-contrast'] }), [], 'dark');
    await shot(page, `${name}-wide-dark`);
    // 1280 pixels at 400 % are 320.
    for (const [width, height] of [[768, 1024], [360, 740], [320, 640]]) {
      await page.setViewportSize({ width, height });
      await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
      assert.deepEqual(await page.evaluate(beyond), [], `at ${width} pixels`);
      await shot(page, `${name}-${width}`);
    }
    if (name === 'recording') assert.ok(await page.locator('.detail .line').count() > 3, 'the message is shown whole below the picture');
    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    assert.deepEqual(page.trouble, []);
    await page.close();
  });
}
