// Requests to the API, the token, and whether the server is there.
import { texts } from "./texts.js";

const tokenName = "respool-token";

/** The address below which the API is, also behind a proxy with a path of its own. */
export const base = new URL(".", document.baseURI);

/** A refused request, as RFC 9457 describes it. */
class Problem extends Error {
    constructor(status, body, retryAfter) {
        super(body.detail || texts.statusError(status));
        this.status = status;
        /** Seconds, if the server gave them. */
        this.retryAfter = /^\d{1,3}$/.test(retryAfter ?? "") ? Number(retryAfter) : undefined;
        this.code = body.code ?? "";
        this.errors = body.errors ?? [];
    }
}

/** A request that got no answer from the server, or none from Redis. */
export class Disconnected extends Error {}

/** Whether the server answers. It sends `change`, and `return` when a lost connection is back. */
export const connection = Object.assign(new EventTarget(), {
    state: "ok", since: null, next: 0, timer: 0, delay: 1000,

    /** Notes a failure, and tries again until the server is back. */
    lose(state) {
        if (this.state === "ok") {
            this.since = new Date();
            this.delay = 1000;
            this.wait();
        }
        if (this.state !== state) {
            this.state = state;
            this.dispatchEvent(new Event("change"));
        }
    },

    wait() {
        clearTimeout(this.timer);
        this.next = Date.now() + this.delay;
        this.timer = setTimeout(() => this.check(), this.delay);
        this.delay = Math.min(15000, this.delay * 1.7);
    },

    /** Waits until the server is back. */
    returned(signal) {
        if (this.state === "ok") return Promise.resolve();
        return new Promise((resolve, reject) => {
            this.addEventListener("return", resolve, { once: true });
            signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
    },

    /** Asks whether the server and Redis are back. */
    async check() {
        clearTimeout(this.timer);
        let state = "lost";
        try {
            const response = await fetch(new URL("readyz", base), { cache: "no-store" });
            state = response.ok ? "ok" : "redis";
        } catch { /* It is still away. */ }
        if (state === "ok") {
            this.state = "ok";
            this.dispatchEvent(new Event("change"));
            this.dispatchEvent(new Event("return"));
        } else {
            this.wait();
            this.lose(state);
            this.dispatchEvent(new Event("change"));
        }
    },
});

/** The token, which lives as long as the tab. */
export const token = {
    get: () => sessionStorage.getItem(tokenName),
    set: value => (value ? sessionStorage.setItem(tokenName, value) : sessionStorage.removeItem(tokenName)),
    /** Asks for a token; the page sets it. */
    ask: async wasWrong => { throw new Error(texts.tokenNeeded(wasWrong)); },
};

let asking;

/** Asks once for all requests that wait. */
function askForToken(wasWrong) {
    asking ??= token.ask(wasWrong).finally(() => { asking = undefined; });
    return asking;
}

/** Sends a request and returns the response if its status says success. */
export async function send(method, path, { query = {}, body, headers = {}, signal } = {}) {
    for (;;) {
        const url = new URL(path, base);
        for (const [name, value] of Object.entries(query)) {
            if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, value);
        }
        const used = token.get();
        const all = { ...headers, ...(used ? { Authorization: `Bearer ${used}` } : {}) };
        const isRaw = body instanceof Blob;
        if (body !== undefined && !isRaw) all["Content-Type"] = "application/json";
        let response;
        try {
            response = await fetch(url, {
                method, headers: all, signal, cache: "no-store", body: isRaw ? body : body && JSON.stringify(body),
            });
        } catch (error) {
            if (signal?.aborted) throw error;
            connection.lose("lost");
            throw new Disconnected(texts.noConnection);
        }
        if (response.ok) return response;
        if (response.status === 401) {
            // Another request may have got a new one meanwhile.
            if (used === token.get()) await askForToken(Boolean(used));
            continue;
        }
        const problem = new Problem(response.status, await response.json().catch(() => ({})), response.headers.get("Retry-After"));
        if (response.status === 503 && problem.code === "redis_unavailable") {
            connection.lose("redis");
            throw new Disconnected(problem.message);
        }
        // A proxy says so when the server behind it is away.
        if ([502, 504].includes(response.status) || response.status === 503 && !problem.code) {
            connection.lose("lost");
            throw new Disconnected(texts.noConnection);
        }
        throw problem;
    }
}

/** Sends a request and returns its JSON. */
export async function call(method, path, options) {
    return (await send(method, path, options)).json();
}

export const get = (path, query = {}, options = {}) => call("GET", path, { query, ...options });

/** What the token allows, and the queue that is shown. */
export const session = {
    access: { name: "", role: "read", queues: [], group_prefix: null, uploads: false, downloads: false },
    queue: "",
    mayPush() { return this.access.role !== "read"; },
    mayOperate() { return this.access.role === "operate"; },

    async open() {
        this.access = { ...this.access, ...await get("v1/access") };
        if (!this.access.queues.includes(this.queue)) this.queue = this.access.queues[0] ?? "default";
    },
};

/** Random characters, also where the browser has no `randomUUID` because the page has no TLS. */
export function nonce() {
    return [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether the server has an operation, such as `POST /v1/jobs/actions`. */
export async function has(method, path) {
    const document = await constant("v1/openapi.json").catch(() => null);
    return Boolean(document?.paths[path]?.[method.toLowerCase()]);
}

const cache = new Map();

/** What does not change while the server runs: formats, fields, the document. */
export function constant(path) {
    if (!cache.has(path)) {
        cache.set(path, get(path).catch(error => {
            cache.delete(path);
            throw error;
        }));
    }
    return cache.get(path);
}
