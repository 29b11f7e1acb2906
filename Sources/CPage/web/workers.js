// Workers, as a line of the overview and as a view.
import { call, get, has, session } from "./api.js";
import { h } from "./dom.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { actionButton, codeLine, jobLink, notify, Part, route, table, View } from "./view.js";

/** A worker beats each second; other workers take over its jobs when its lease of 10 s has ended. */
function health(worker) {
    const silence = worker.silence ?? 0;
    const [kind, sign, text] = silence > 10 ? ["failed", "◌", texts.lostWorker(format.span(silence))]
        : worker.quiet ? ["delayed", "◐", texts.quietWorker] : silence > 4 ? ["delayed", "◔", texts.silent] : ["completed", "●", texts.healthy];
    return h("span", { class: `state ${kind}` }, h("span", { class: "sign", "aria-hidden": "true" }, sign), text);
}

/** The name that a job has for a worker: `host:pid`. */
const shortName = name => name.split(":").slice(0, 2).join(":");

export function workerLine(worker) {
    return [h("a", { class: "mono", href: route("jobs", { state: "running", worker: shortName(worker.name) }),
        data: { key: worker.name } }, shortName(worker.name)), " ", health(worker), " ",
    h("span", { class: "muted" }, texts.slots(worker.jobs.length, worker.slots))];
}

class Workers extends View {
    view = "workers";

    build() {
        const part = Part.make(null, () => get("v1/workers", { queue: session.queue }, { signal: this.signal }),
            data => this.draw(data.workers));
        this.append(this.heading, part);
        this.shown = part;
        has("POST", "/v1/workers/{worker}/quiet").then(answer => {
            this.canQuiet = answer && session.mayOperate();
            if (part.data) part.show(part.data);
        });
        this.every(3000, () => part.refresh());
    }

    draw(workers) {
        if (!workers.length) return [h("p", { class: "empty" }, texts.noWorker), codeLine(texts.workerCommand)];
        const names = texts.worker;
        return table(texts.views.workers,
            [names.name, names.health, names.slots, names.jobs, names.silence, names.host, names.version,
                ...(this.canQuiet ? [names.action] : [])],
            workers.map(worker => [
                h("a", { class: "mono", href: route("jobs", { state: "running", worker: shortName(worker.name) }),
                    data: { key: worker.name } }, shortName(worker.name)),
                health(worker),
                [h("meter", { min: 0, max: worker.slots, value: worker.jobs.length, "aria-label": names.slots }), " ",
                    texts.slots(worker.jobs.length, worker.slots)],
                worker.jobs.map(id => [jobLink(id, { data: { key: id } }), " "]),
                worker.silence === null ? texts.none : texts.ago(format.span(worker.silence)),
                worker.host, worker.version,
                ...(this.canQuiet ? [actionButton(worker.quiet ? texts.unquiet : texts.quiet, () => this.quiet(worker),
                    { class: "small", title: texts.quietHint, data: { action: "", key: `quiet ${worker.name}` } })] : []),
            ]));
    }

    async quiet(worker) {
        try {
            await call(worker.quiet ? "DELETE" : "POST", `v1/workers/${encodeURIComponent(shortName(worker.name))}/quiet`,
                { query: { queue: session.queue } });
        } catch (error) {
            notify(error.message);
        }
        this.shown.refresh();
    }
}
customElements.define("workers-view", Workers);
