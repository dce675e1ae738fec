// A real Chromium, and pages in it that say at once what went wrong in them.

import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const installed = createRequire(resolve('target/page/package.json'));
const { chromium } = installed('playwright-core');
export const axe = installed('axe-core').source;

const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

let context;
const profile = mkdtempSync(join(tmpdir(), 'acp-harness-page-'));

export async function start() {
  context = await chromium.launchPersistentContext(join(profile, 'browser'), {
    executablePath: process.env.CHROMIUM, headless: true, args: FLAGS, viewport: { width: 1440, height: 900 },
  });
  await context.grantPermissions([]);
}

export async function stop() {
  await context?.close();
  rmSync(profile, { recursive: true, force: true });
}

/** A folder for what the tests make. */
export const folder = profile;

/**
 * Opens a part of a page. `trouble` of the page holds whatever must not happen: errors, requests, dialogs, breaches of its policy.
 */
export async function open(file, hash = '', { width = 1440, height = 900, scheme = 'light', measured = false } = {}) {
  const page = await context.newPage();
  if (measured) await measure(page);
  page.trouble = [];
  const own = pathToFileURL(file).href;
  page.on('pageerror', (error) => page.trouble.push(`error: ${error.stack ?? error}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') page.trouble.push(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => { page.trouble.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('popup', () => page.trouble.push('popup'));
  page.on('request', (request) => {
    if (request.url().replace(/#.*$/, '') !== own) page.trouble.push(`request: ${request.url()}`);
  });
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
  await page.goto(own + hash);
  await page.waitForSelector('body[data-started]');
  return page;
}

/** Gives a page `work`: how long its thread worked, in milliseconds. */
async function measure(page) {
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  page.work = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * metrics.find((one) => one.name === 'TaskDuration').value;
  };
}

/** Waits until a recording is read to its end. */
export async function recordingReady(page, name) {
  await page.waitForFunction((wanted) => document.body.dataset.ready === wanted, name);
  await page.waitForSelector('.detail h2');
}
