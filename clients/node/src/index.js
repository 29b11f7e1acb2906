// Client of respool over its HTTP API, for Node.js 18 or later. index.d.ts has the types and what each call does.
import { randomUUID } from 'node:crypto';
import { Alarm } from './alarm.js';
import { Backoff, sleep } from './backoff.js';
import { Connection } from './connection.js';
import { InvalidJob, JobCancelled, JobFailed, RespoolError, Unreachable, WaitTimeout } from './errors.js';
import { EventStream } from './eventstream.js';
import { limits } from './limits.js';

export * from './errors.js';

// What a request of many jobs may hold; the server takes 1,000 jobs and 4 MiB.
const MAX_JOBS = 1000;
const MAX_BYTES = 2 << 20;
const TERMINAL = new Set(['completed', 'failed', 'cancelled']);

export class Client {
  #connection;

  constructor(url, options = {}) {
    this.#connection = new Connection(url, options);
  }

  async push(fields, { idempotencyKey = randomUUID(), signal } = {}) {
    return (await this.#post(json(fields), idempotencyKey, signal)).id;
  }

  async pushMany(jobs, { idempotencyKey = randomUUID(), signal } = {}) {
    const pushed = [];
    for (const [number, batch] of batches([...jobs]).entries()) {
      const key = number ? `${idempotencyKey}.${number}` : idempotencyKey;
      try {
        const reply = await this.#post(`{"jobs":[${batch.join(',')}]}`, key, signal);
        pushed.push(...reply.jobs.map(({ id }) => id));
      } catch (error) {
        if (error instanceof InvalidJob) throw new InvalidJob(error.errors.map((part) => moved(part, pushed.length)), pushed);
        if (error instanceof RespoolError) error.pushed = pushed;
        throw error;
      }
    }
    return pushed;
  }

  #post(body, key, signal) {
    const headers = { 'content-type': 'application/json', 'idempotency-key': JSON.stringify(key) };
    return this.#connection.ask('POST', '/v1/jobs', { body, headers, signal });
  }

  async status(id, { signal } = {}) {
    const { outputs, ...job } = await this.#connection.ask('GET', path(id), { id, signal });
    return { ...job, outputs: outputs ?? [] };
  }

  async cancel(id, { signal } = {}) {
    return (await this.#connection.ask('POST', `${path(id)}/cancel`, { id, signal })).result;
  }

  async wait(id, { timeout = Infinity, signal } = {}) {
    const end = performance.now() + timeout;
    // An address has 16 event streams, and the server counts one until it notices that it was closed: many waits ask instead.
    for (let pause = 100; ; pause = Math.min(2000, pause * 1.3)) {
      const job = await this.status(id, { signal });
      if (job.state === 'completed') return job;
      if (job.state === 'failed') throw new JobFailed(job);
      if (job.state === 'cancelled') throw new JobCancelled(job);
      const left = end - performance.now();
      if (left <= 0) throw new WaitTimeout(`job ${id} did not end within ${timeout} ms`);
      await sleep(Math.min(left, pause), signal);
    }
  }

  async *waitMany(ids, { timeout = Infinity, signal } = {}) {
    // Each id to wait for, or the first job that it turned out to stand for.
    const pending = new Map([...ids].map((id) => [id, '']));
    const told = new Set();
    if (pending.size === 0) return;
    const limit = new AbortController();
    const abort = () => limit.abort(signal.reason);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    const late = new WaitTimeout(`not all of ${pending.size} jobs ended within ${timeout} ms`);
    const alarm = new Alarm(timeout, () => limit.abort(late));
    try {
      for await (const batch of this.#follow(undefined, undefined, limit.signal)) {
        const named = new Set(batch.map((change) => change.job));
        // The first batch has a gap, and the position is fixed: jobs are read after it, so no change in between is missed.
        const allMayDiffer = batch.some((change) => change.gap);
        for (const [id, first] of [...pending]) {
          if (!allMayDiffer && !named.has(id) && !named.has(first)) continue;
          const job = await this.status(id, { signal: limit.signal });
          pending.set(id, job.id);
          if (!TERMINAL.has(job.state)) continue;
          pending.delete(id);
          if (!told.has(job.id)) yield job;
          told.add(job.id);
        }
        if (pending.size === 0) return;
      }
    } catch (error) {
      throw limit.signal.aborted ? limit.signal.reason : error;
    } finally {
      alarm.stop();
      signal?.removeEventListener('abort', abort);
    }
  }

  async *events({ job, after, signal } = {}) {
    for await (const batch of this.#follow(job, after, signal)) yield* batch;
  }

  /** Lists of changes; the first one comes when the position is fixed, with a gap unless it was given. */
  async *#follow(job, after, signal) {
    const stream = new EventStream(after);
    const backoff = new Backoff(this.#connection.reconnectTimeout, signal);
    for (;;) {
      const isKnown = stream.position !== undefined;
      stream.reconnect();
      const query = { ...(job && { job }), ...(stream.position && { last_event_id: stream.position }) };
      const open = (response) => response.body.getReader();
      const reader = await this.#connection.open(backoff, 'GET', '/v1/events', { query, id: job, signal }, open);
      // Closes the connection, and ends the read that waits.
      const abort = () => reader.cancel().catch(() => {});
      signal?.addEventListener('abort', abort);
      let timer;
      let hasData = false;
      try {
        signal?.throwIfAborted();
        if (!isKnown) yield [{ gap: true }];
        for (;;) {
          timer = setTimeout(abort, limits.silence);
          const { done, value } = await reader.read().catch(() => ({ done: true }));
          // Only the server may be silent: the loop that takes the changes may be slow.
          clearTimeout(timer);
          if (done) break;
          hasData = true;
          const changes = [...stream.read(value)];
          if (changes.length > 0) yield changes;
        }
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        await abort();
      }
      signal?.throwIfAborted();
      if (hasData) backoff.restart();
      if (!(await backoff.wait())) throw new Unreachable('the event stream was lost, and the server does not respond');
    }
  }
}

const path = (id) => `/v1/jobs/${encodeURIComponent(id)}`;

/** A job as JSON, which has no place for NaN and infinity: `JSON.stringify` would leave the field out. */
function json(job, pointer = '') {
  const pointers = new Map();
  return JSON.stringify(job, function check(name, value) {
    // `this` has the value; what has the job itself has no pointer.
    const place = pointers.has(this) ? `${pointers.get(this)}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` : pointer;
    if (typeof value === 'object') pointers.set(value, place);
    if (typeof value !== 'number' || Number.isFinite(value)) return value;
    throw new InvalidJob([{ pointer: place, message: `${value} is not a number` }]);
  });
}

/** The jobs as JSON, in lists that fit in a request. */
function batches(jobs) {
  const found = [];
  let size = 0;
  for (const [index, job] of jobs.entries()) {
    const text = json(job, `/jobs/${index}`);
    size += Buffer.byteLength(text) + 1;
    if (found.length === 0 || found.at(-1).length === MAX_JOBS || size > MAX_BYTES) {
      found.push([]);
      size = Buffer.byteLength(text) + 1;
    }
    found.at(-1).push(text);
  }
  return found;
}

/** An error of a later request, with the job's place in the whole list. */
function moved({ pointer, message }, offset) {
  return { pointer: pointer.replace(/^\/jobs\/(\d+)/, (_, index) => `/jobs/${Number(index) + offset}`), message };
}
