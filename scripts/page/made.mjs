// The pages that several tests look at, made once.

import { failing, replayed } from './reports.mjs';

let one;
let other;

export const failingPage = () => (one ??= failing());
export const replayedPage = () => (other ??= replayed());
