// All browser tests of the page, in one process and one browser.

import { after, before } from 'node:test';
import { start, stop } from './browser.mjs';

before(start);
after(stop);

await import('./views.mjs');
await import('./recording.mjs');
await import('./keyboard.mjs');
await import('./hostile.mjs');
await import('./long.mjs');
await import('./access.mjs');
