// The event stream of the tab: one for the queue, closed while the tab is hidden, resumed where it ended.
import { connection, send, session } from "./api.js";

const listeners = new Set();
let job = null;
let last = null;
let reading = null;
let batch = [];
let isFlushing = false;
let isResumed = false;

/** Calls a function with batches of `{kind, data}`, once a frame; returns how to end that. */
export function listen(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
}

/** Follows the queue of the session. A token for groups follows single jobs only. */
export function follow(only = null) {
    const wanted = session.access.group_prefix ? only : null;
    if (reading && wanted === job) return;
    job = wanted;
    restart(true);
}

/** Begins anew, for another queue or token. */
export function restart(forgets) {
    reading?.abort();
    reading = null;
    if (forgets) last = null;
    if (document.hidden || connection.state !== "ok" || (session.access.group_prefix && !job)) return;
    reading = new AbortController();
    run(reading);
}

async function run(controller) {
    let delay = 300;
    while (!controller.signal.aborted) {
        let watchdog;
        try {
            isResumed = last !== null;
            const response = await send("GET", "v1/events", {
                query: { queue: session.queue, job }, signal: controller.signal,
                headers: last ? { "Last-Event-ID": last } : {},
            });
            const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
            // The server sends a comment every 15 s.
            const watch = () => {
                clearTimeout(watchdog);
                watchdog = setTimeout(() => reader.cancel(), 40000);
            };
            let text = "";
            for (;;) {
                watch();
                const { value, done } = await reader.read();
                if (done) break;
                delay = 300;
                text += value;
                let end;
                while ((end = text.indexOf("\n\n")) >= 0) {
                    take(text.slice(0, end));
                    text = text.slice(end + 2);
                }
            }
        } catch {
            if (controller.signal.aborted || connection.state !== "ok") return;
        } finally {
            clearTimeout(watchdog);
        }
        await new Promise(resume => setTimeout(resume, delay));
        delay = Math.min(10000, 2 * delay);
    }
}

function take(frame) {
    let kind = "message", data = "";
    for (const line of frame.split("\n")) {
        if (line.startsWith("id: ")) last = line.slice(4);
        else if (line.startsWith("event: ")) kind = line.slice(7);
        else if (line.startsWith("data: ")) data += line.slice(6);
    }
    // What changed before the first connection is not known; a resumed one has sent it.
    if (kind === "hello") kind = isResumed ? "" : "gap";
    if (!data || !kind) return;
    batch.push({ kind, data: JSON.parse(data) });
    if (isFlushing) return;
    isFlushing = true;
    requestAnimationFrame(() => {
        isFlushing = false;
        const events = batch;
        batch = [];
        for (const listener of [...listeners]) listener(events);
    });
}

document.addEventListener("visibilitychange", () => restart(false));
connection.addEventListener("change", () => {
    if (connection.state !== "ok") reading?.abort();
});
connection.addEventListener("return", () => restart(false));
