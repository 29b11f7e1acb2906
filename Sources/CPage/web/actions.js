// Cancels, retries and deletes jobs, after a question that says how many.
import { call, session } from "./api.js";
import { FieldsEditor } from "./fields.js";
import { h } from "./dom.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { actionButton, notify, openDialog } from "./view.js";

const sampleSize = 5;
const atOnce = 4;
/** The number of jobs that one request changes. */
const atMost = 500;

/** Asks, then acts on each job; returns the ids that were changed. */
export async function act(name, jobs) {
    const words = texts.actions[name];
    const changed = [];
    if (!jobs.length) return changed;
    await openDialog(words.title(jobs.length), close => {
        const status = h("p", { role: "status" });
        const editor = name === "retry" ? new FieldsEditor({ isRetry: true }) : null;
        const keep = h("button", { type: "button", on: { click: () => close() } }, words.keep);
        const run = actionButton(jobs.length === 1 ? words.runOne : words.run, async () => {
            run.disabled = true;
            const refusals = await perform(name, jobs, editor?.values(), changed, done => {
                status.textContent = texts.running(done, jobs.length);
            });
            if (changed.length) notify(words.done(changed.length));
            if (!refusals.size) return close();
            editor?.showProblems([...refusals.values()].flatMap(refusal => refusal.errors), "/set");
            status.replaceChildren(...[...refusals].map(([reason, refusal]) =>
                h("span", { class: "problem" }, texts.refused(refusal.count, reason))));
            run.disabled = false;
        }, { class: name === "retry" ? "primary" : "primary danger" });
        return [
            h("p", null, words.hint),
            h("ul", { class: "sample" }, jobs.slice(0, sampleSize).map(job => h("li", null,
                h("span", { class: "mono" }, job.id), " ", format.fileName(job.source))),
            jobs.length > sampleSize ? h("li", null, texts.sample(jobs.length - sampleSize)) : null),
            editor ? h("details", null, h("summary", null, texts.changeFields), editor.element) : null,
            status,
            h("div", { class: "buttons" }, keep, run),
        ];
    });
    return changed;
}

/** Acts on jobs, some at once; returns the refusals by their reason. */
async function perform(name, jobs, set, changed, progress) {
    const refusals = new Map();
    const left = jobs.filter(job => !changed.includes(job.id));
    const query = { queue: session.queue };
    let done = changed.length;
    const worker = async () => {
        for (let job = left.shift(); job; job = left.shift()) {
            const path = `v1/jobs/${encodeURIComponent(job.id)}`;
            try {
                if (name === "delete") await call("DELETE", path, { query });
                else if (name === "cancel") await call("POST", `${path}/cancel`, { query });
                else await call("POST", `${path}/retry`, { query, body: { set: set ?? {} } });
                changed.push(job.id);
            } catch (error) {
                const refusal = refusals.get(error.message) ?? { count: 0, errors: error.errors ?? [] };
                refusal.count++;
                refusals.set(error.message, refusal);
            }
            progress(++done);
        }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    return refusals;
}

/** Asks, then acts on all jobs that match a filter, in the order of its list; returns whether any was changed. */
export async function actOnFilter(name, filter) {
    const words = texts.actions[name];
    const query = { queue: session.queue };
    const exact = { ...filter };
    if (exact.older_than) exact.older_than = Number(exact.older_than);
    const send = body => call("POST", "v1/jobs/actions", { query, body: { action: name, filter: exact, ...body } });
    let done = 0;
    let found;
    try {
        found = await send({ limit: atMost, dry_run: true });
    } catch (error) {
        notify(error.message);
        return false;
    }
    if (!found.matched && !found.more) {
        notify(texts.noneMatches);
        return false;
    }
    await openDialog(texts.matching(words.title(found.matched), found.more), close => {
        const status = h("p", { role: "status" });
        const editor = name === "retry" ? new FieldsEditor({ isRetry: true }) : null;
        const run = actionButton(words.run, async () => {
            run.disabled = true;
            const set = editor?.values() ?? {};
            const changes = Object.keys(set).length ? { set, limit: atMost } : { limit: atMost };
            const refusals = new Map();
            try {
                // The confirmation is for these very changes.
                let { confirm: next } = changes.set ? await send({ ...changes, dry_run: true }) : found;
                while (next) {
                    const step = await send({ ...changes, confirm: next });
                    for (const { result } of step.results) {
                        if (["retried", "cancelled", "requested", "deleted"].includes(result)) done++;
                        else refusals.set(result, (refusals.get(result) ?? 0) + 1);
                    }
                    status.textContent = words.done(done);
                    next = step.confirm;
                }
            } catch (error) {
                editor?.showProblems(error.errors ?? [], "/set");
                status.replaceChildren(h("span", { class: "problem" }, error.message));
                run.disabled = false;
                return;
            }
            if (done) notify(words.done(done));
            if (!refusals.size) return close();
            status.replaceChildren(...[...refusals].map(([reason, count]) =>
                h("span", { class: "problem" }, texts.refused(count, reason))));
        }, { class: name === "retry" ? "primary" : "primary danger" });
        return [
            h("p", null, words.hint),
            h("p", null, Object.entries(filter).filter(([, value]) => value).map(([key, value]) =>
                h("code", null, `${key}=${value} `))),
            h("ul", { class: "sample" }, found.sample.map(job => h("li", null,
                h("span", { class: "mono" }, job.id), " ", format.fileName(job.source)))),
            editor ? h("details", null, h("summary", null, texts.changeFields), editor.element) : null,
            status,
            h("div", { class: "buttons" },
                h("button", { type: "button", on: { click: () => close() } }, words.keep), run),
        ];
    });
    return done > 0;
}

/** The actions that a job's state allows. */
export function possible(state) {
    if (state === "running") return ["cancel"];
    if (state === "failed" || state === "cancelled") return ["retry", "delete"];
    return state === "completed" ? ["delete"] : ["cancel", "delete"];
}
