import { Backoff } from './backoff.js';
import { RequestFailed, Unreachable, refusal } from './errors.js';
import { limits } from './limits.js';

const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;

/** Requests to `respool serve`, each repeated until it gets a response: reading again changes nothing, and a push has a key. */
export class Connection {
  constructor(url, { queue, token, reconnectTimeout = 30_000 } = {}) {
    const base = new URL(url);
    if (!/^https?:$/.test(base.protocol) || base.username || base.password || base.search || base.hash) {
      throw new TypeError('the address of the API must be https://HOST, optionally with a port and a path; give the token as `token`');
    }
    this.base = base.origin + base.pathname.replace(/\/+$/, '');
    this.headers = { 'user-agent': 'respool-node/0.1', ...(token && { authorization: `Bearer ${token}` }) };
    this.query = queue ? { queue } : {};
    this.reconnectTimeout = reconnectTimeout;
  }

  /** The JSON of a response. `id` is the job that the request names. */
  async ask(method, path, { body, headers, id, signal } = {}) {
    const backoff = new Backoff(this.reconnectTimeout, signal);
    return this.open(backoff, method, path, { body, headers, id, signal }, (response) => response.json());
  }

  /** Sends a request until its response is read. */
  async open(backoff, method, path, { body, headers, id, signal, query = {} }, read) {
    const target = new URL(this.base + path);
    for (const [name, value] of Object.entries({ ...this.query, ...query })) target.searchParams.set(name, value);
    let isSent = false;
    for (;;) {
      let [reason, pause] = ['', 0];
      const attempt = new Attempt(signal);
      try {
        const response = await attempt.result(fetch(target, {
          method, body, headers: { ...this.headers, ...headers }, signal: attempt.controller.signal, redirect: 'error',
        }));
        isSent = true;
        if (response.ok) return await attempt.result(read(response));
        const problem = await attempt.result(response.json().catch(() => ({})));
        const isTransient = [429, 502, 503, 504].includes(response.status) || problem.code === 'in_progress';
        if (!isTransient) throw refusal(response.status, problem, id);
        reason = `the server answers with status ${response.status}: ${problem.detail ?? ''}`;
        pause = 1000 * (Number(response.headers.get('retry-after')) || 0);
      } catch (error) {
        signal?.throwIfAborted();
        // A lost connection is a `TypeError` whose cause says more. Without a cause, the request itself is wrong.
        const isLost = error instanceof TypeError ? error.cause : error instanceof SyntaxError || error.name === 'AbortError';
        if (!isLost) throw error;
        const code = error.cause?.code ?? '';
        if (error.cause && !code) throw new RequestFailed(`${target.host}: ${error.cause.message}`, { code, status: 0 });
        isSent ||= !UNSENT.has(code);
        reason = `${target.host} does not respond: ${error.cause?.message ?? error.message}`;
        if (UNTRUSTED.test(code)) throw new Unreachable(reason);
      } finally {
        attempt.done();
      }
      if (!(await backoff.wait(pause))) throw new Unreachable(reason, isSent && method === 'POST');
    }
  }
}

/**
 * The time that one request may take; it ends also when the caller's signal does. Node.js 18 may forget a signal that was given
 * to `fetch`, so results are not left to it.
 */
class Attempt {
  constructor(signal) {
    this.controller = new AbortController();
    this.outer = signal;
    this.failure = new Promise((_, reject) => {
      this.abort = () => {
        this.controller.abort();
        reject(new DOMException(`no response within ${limits.response / 1000} s`, 'AbortError'));
      };
    });
    this.failure.catch(() => {});
    this.timer = setTimeout(this.abort, limits.response);
    if (signal?.aborted) this.abort();
    signal?.addEventListener('abort', this.abort);
  }

  /** The result of a promise, unless the attempt ends first. */
  result(promise) {
    return Promise.race([promise, this.failure]);
  }

  done() {
    clearTimeout(this.timer);
    this.outer?.removeEventListener('abort', this.abort);
  }
}
