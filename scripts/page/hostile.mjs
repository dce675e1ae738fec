// Text of an agent has no effect in the page, wherever it stands.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from './browser.mjs';
import { failingPage } from './made.mjs';
import { hostile } from './reports.mjs';

/** What must not be in the page: elements and links of the text, and characters that are not seen. */
function effects() {
  const found = [];
  if (window.hit) found.push('a script ran');
  for (const one of document.querySelectorAll('body *')) {
    const own = one.closest('script, head, dialog');
    if (/^(img|iframe|object|embed|svg|form|base|link|meta)$/i.test(one.tagName)) found.push(`element ${one.tagName}`);
    if (!own && /^(script|style)$/i.test(one.tagName)) found.push(`element ${one.tagName}`);
    for (const { name, value } of one.attributes) {
      if (/^on/i.test(name)) found.push(`attribute ${name}`);
      if (name === 'href' && !/^(#|https:\/\/github\.com\/agentclientprotocol\/)/.test(value)) found.push(`link ${value}`);
      if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(value)) found.push(`hidden character in ${name} of ${one.tagName}`);
    }
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_COMMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeType === Node.COMMENT_NODE) found.push('a comment');
    else if (node.parentElement.closest('script')) continue;
    else if (/[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?!\n)\p{Cc}/u.test(node.data)) found.push(`hidden character in ${JSON.stringify(node.data.slice(0, 80))}`);
    else if (/\n/.test(node.data) && node.data.trim() !== '') found.push(`line break in ${JSON.stringify(node.data.slice(0, 80))}`);
  }
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(document.title)) found.push('hidden character in the title');
  if (document.querySelectorAll('body > script').length !== document.body.dataset.scripts * 1) found.push('another number of scripts');
  return [...new Set(found)];
}

test('scripts, tags, bidirectional marks and control characters are shown and do nothing', async () => {
  const file = hostile(failingPage());
  let page = await open(file);
  const scripts = await page.evaluate(() => document.querySelectorAll('body > script').length);
  const recordings = await page.evaluate(() => JSON.parse(document.getElementById('recordings').textContent));
  assert.equal(scripts, recordings.length + 4, 'the report, the catalogue, the list, the script, and each recording');
  assert.ok(recordings.every((one) => one.element), JSON.stringify(recordings.find((one) => !one.element)));
  const look = async (view) => {
    await page.evaluate((number) => { document.body.dataset.scripts = number; }, scripts);
    const found = await page.evaluate(effects);
    assert.deepEqual(found, [], view);
    assert.deepEqual(page.trouble, [], view);
  };
  assert.match(await page.locator('h1').textContent(), /<script>window\.hit=1<\/script>.*\\u202e.*\\u001b/);
  await look('overview');
  for (const hash of ['#requirements', '#CANCEL-02', '#CANCEL-07', '#scenarios']) {
    await page.close();
    page = await open(file, hash);
    await look(hash);
  }
  const name = 'cancel/while-a-tool-runs';
  await page.close();
  page = await open(file, `#trace=${name}`, { height: 2400 });
  await page.waitForFunction((wanted) => document.body.dataset.ready === wanted, name);
  await look('recording');
  // Each event in turn, in full.
  await page.locator('#show-grouped').click();
  await page.evaluate(`window.look = ${effects}`);
  const shown = await page.evaluate(async () => {
    const log = document.getElementById('log');
    const frame = () => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
    const press = (key) => log.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    const titles = new Set();
    press('Home');
    for (let index = 0; index < 400; index += 1) {
      await frame();
      for (const raw of document.querySelectorAll('details.raw')) raw.open = true;
      for (const more of document.querySelectorAll('.detail button.more')) more.click();
      await frame();
      const title = document.getElementById('detail-title').textContent;
      const found = window.look();
      if (found.length > 0) return { title, found };
      if (titles.has(title) && log.querySelector('.row.chosen').getAttribute('aria-posinset') === log.querySelector('.row.chosen').getAttribute('aria-setsize')) break;
      titles.add(title);
      press('ArrowDown');
    }
    return { number: titles.size };
  });
  assert.equal(shown.found, undefined, JSON.stringify(shown));
  assert.ok(shown.number > 30, JSON.stringify(shown));
  assert.deepEqual(page.trouble, []);
  await page.close();
});

test('an address from elsewhere is text as well', async () => {
  const { file } = failingPage();
  for (const hash of ['#trace=<img src=x onerror=window.hit=1>', '#trace=%E0%A4%A', '#javascript:window.hit=1', '#CANCEL-99', '#trace=cancel/twice&event=99999', '#trace=__proto__', '#__proto__=1&trace=x']) {
    const page = await open(file, hash);
    await page.waitForSelector('h1');
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.locator('img').count(), 0);
    assert.deepEqual(page.trouble, [], hash);
    await page.close();
  }
});
