import { limits } from './limits.js';

/** Calls a function once after a time of any length, unless it is stopped before. */
export class Alarm {
  constructor(milliseconds, ring) {
    this.end = performance.now() + milliseconds;
    this.ring = ring;
    this.arm();
  }

  arm() {
    const left = this.end - performance.now();
    this.timer = left > limits.timer ? setTimeout(() => this.arm(), limits.timer) : setTimeout(this.ring, left);
  }

  stop() {
    clearTimeout(this.timer);
  }
}
