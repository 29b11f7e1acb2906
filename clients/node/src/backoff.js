import { setTimeout } from 'node:timers/promises';
import { limits } from './limits.js';

/** Waits, for at most as long as a timer can; throws the reason of a signal. */
export async function sleep(milliseconds, signal) {
  try {
    await setTimeout(Math.min(milliseconds, limits.timer), undefined, { signal });
  } catch (error) {
    throw signal?.reason ?? error;
  }
}

/** The waits between attempts to reach the service, from a tenth of a second to two. */
export class Backoff {
  constructor(limit, signal) {
    this.limit = limit;
    this.signal = signal;
    this.restart();
  }

  /** Begins again, when the service has responded. */
  restart() {
    this.end = performance.now() + this.limit;
    this.pause = 100;
  }

  /** Waits for the next attempt; false if there is to be none. */
  async wait(atLeast = 0) {
    const left = this.end - performance.now();
    if (left <= 0) return false;
    const pause = Math.max(atLeast, this.pause * (0.75 + Math.random() / 2));
    await sleep(Math.min(left, pause), this.signal);
    this.pause = Math.min(2000, this.pause * 2);
    return true;
  }
}
