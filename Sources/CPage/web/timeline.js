// The course of a job: pushed, its attempts and the waits between them, and how it ended.
import { h } from "./dom.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { signs } from "./view.js";

const words = texts.timeline;
const line = /^(\S+Z) attempt (\d+)(?: of \d+)? ([a-z]+)(?: after ([\d.]+) s)?(?:: (.*))?$/;

/** The attempts that ended, from the lines of the log. */
function logged(lines) {
    return lines.map(text => line.exec(text)).filter(Boolean).map(([, at, number, outcome, seconds, message]) => ({
        number: Number(number), outcome, end: Date.parse(at), message,
        start: seconds === undefined ? null : Date.parse(at) - 1000 * Number(seconds),
    }));
}

/** The attempts of a job since it was pushed or retried, the one that runs included. */
function attempts(job, lines) {
    const found = logged(lines);
    const started = job.started_at ? Date.parse(job.started_at) : null;
    // A first attempt without warnings logs nothing, and one that runs has not ended.
    const last = found.at(-1);
    const isLogged = started === null || (last && last.end >= started);
    if (isLogged && last && last.start === null && job.state !== "running") last.start = started;
    if (!isLogged) {
        const end = job.finished_at ? Date.parse(job.finished_at) : null;
        found.push({ number: job.attempt || found.length + 1, outcome: job.state, start: started, end, message: null });
    }
    return found;
}

/** What happened, each with its time, its kind and how long it took. */
function steps(job, lines) {
    const pushed = Date.parse(job.created_at);
    const all = [{ at: pushed, kind: "waiting", text: words.pushed }];
    let before = pushed;
    for (const one of attempts(job, lines)) {
        const start = one.start ?? before;
        if (start - before >= 1000) all.push({ kind: "gap", text: words.waited(format.span((start - before) / 1000)) });
        const kind = one.outcome in signs ? one.outcome : "failed";
        all.push({ at: start, kind, text: words.attempt(one.number, texts.states[one.outcome] ?? one.outcome),
            took: one.end && one.start !== null ? format.span(Math.max(0, one.end - one.start) / 1000) : null,
            message: one.message });
        before = one.end ?? Date.now();
    }
    if (job.state === "completed") all.push({ at: Date.parse(job.finished_at), kind: "completed", text: words.published });
    else if (job.state === "delayed") all.push({ at: Date.parse(job.due_at), kind: "delayed", text: words.due });
    else if (job.state === "waiting" || job.state === "queued") all.push({ kind: "waiting", text: words.waits });
    else if (job.state === "cancelled") all.push({ at: Date.parse(job.finished_at), kind: "cancelled", text: words.cancelled });
    else if (job.state === "failed" && all.at(-1).kind !== "failed") {
        all.push({ at: Date.parse(job.finished_at), kind: "failed", text: texts.states.failed });
    }
    return all;
}

/** A list of the steps, drawn as a line with a sign for each. */
export function timeline(job, lines) {
    return h("ol", { class: "timeline", "aria-label": words.title }, steps(job, lines).map(step => (step.kind === "gap"
        ? h("li", { class: "gap" }, h("span", null, step.text))
        : h("li", { class: `step ${step.kind}` },
            h("span", { class: "sign", "aria-hidden": "true" }, signs[step.kind] ?? "·"),
            h("span", { class: "what" }, step.text, step.took ? h("span", { class: "muted" }, ` ${step.took}`) : null),
            step.at ? h("span", { class: "muted when" }, format.moment(step.at)) : null,
            step.message ? h("span", { class: "muted why", title: step.message }, step.message) : null))));
}
