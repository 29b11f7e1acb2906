// The overview: depth by state, jobs by time, failures by code, workers.
import { call, get, session } from "./api.js";
import { barChart, sum } from "./barchart.js";
import { h, throttle } from "./dom.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { periods } from "./timechart.js";
import { mean, waitChart } from "./waitchart.js";
import { actionButton, codeLine, confirm, notify, Part, route, table, View } from "./view.js";
import { workerLine } from "./workers.js";

class Overview extends View {
    view = "overview";
    hours = 24;

    build() {
        const queue = () => `v1/queues/${encodeURIComponent(session.queue)}`;
        const query = () => ({ queue: session.queue });
        this.switch = h("div", { class: "buttons" });
        this.depth = Part.make(null, () => get(queue(), {}, { signal: this.signal }), data => this.drawDepth(data),
            { class: "plain" });
        this.counts = Part.make(texts.throughput, () => this.readCounts(), data => this.drawCounts(data.hours));
        this.waits = Part.make(texts.waits.title, () => this.readCounts(), data => this.drawWaits(data.hours));
        this.failures = Part.make(texts.failures,
            () => get("v1/jobs", { ...query(), state: "failed", limit: 200 }, { signal: this.signal }),
            data => this.drawFailures(data.jobs));
        this.workers = Part.make(texts.workersTitle, () => get("v1/workers", query(), { signal: this.signal }),
            data => this.drawWorkers(data.workers));
        this.append(h("div", { class: "head" }, this.heading, this.switch), this.depth,
            h("div", { class: "columns charts" }, this.counts, this.waits),
            h("div", { class: "columns" }, this.failures, this.workers));
        const often = throttle(1000, () => this.depth.refresh());
        const seldom = throttle(5000, () => {
            this.refreshCounts();
            this.failures.refresh();
        });
        this.take = events => {
            often();
            if (events.some(event => event.kind === "gap" || ["completed", "failed", "purged"].includes(event.data.state))) {
                seldom();
            }
        };
        this.every(15000, () => this.reload());
        // Workers come and go without events.
        this.every(5000, () => this.workers.refresh());
    }

    drawDepth(queue) {
        const { counts, last } = queue;
        this.switch.replaceChildren(...(session.mayOperate() ? [actionButton(
            queue.paused ? texts.resume : texts.pause, () => this.toggle(queue), { data: { action: "", key: "pause" } })] : []));
        const waiting = counts.waiting + counts.queued;
        const tile = (name, value, note, state, kind = "") => h("a", { class: `tile ${kind}`, href: route("jobs", { state }) },
            h("span", { class: "label" }, texts.tiles[name]), h("strong", null, format.number(value)),
            h("span", { class: "note" }, note));
        const busy = queue.slots > 0 && counts.running >= queue.slots && waiting > 0;
        return [
            queue.workers ? null : h("div", { class: "banner warn" }, h("p", null, texts.noWorker),
                codeLine(texts.workerCommand)),
            queue.paused ? h("p", { class: "banner warn" }, texts.paused) : null,
            busy ? h("p", { class: "banner" }, texts.overloaded(queue.slots, waiting)) : null,
            h("div", { class: "tiles" },
                tile("waiting", waiting, queue.oldest_waiting === null ? texts.noneWaits
                    : texts.oldest(format.span(queue.oldest_waiting)), "waiting"),
                tile("running", counts.running, queue.slots ? texts.ofSlots(queue.slots) : texts.noSlots, "running"),
                tile("delayed", counts.delayed, texts.retries(last.day.retries), "delayed"),
                tile("completed", last.day.completed, texts.perMinute(last.minute.completed), "completed"),
                tile("failed", last.day.failed, last.day.failure_rate === null ? texts.none
                    : texts.rate(format.percent(last.day.failure_rate, 1)), "failed", last.day.failed ? "bad" : "")),
        ];
    }

    async toggle(queue) {
        const sure = queue.paused || await confirm(texts.pauseQuestion(queue.queue), texts.pauseHint, texts.pauseDo);
        if (!sure) return;
        try {
            const path = `v1/queues/${encodeURIComponent(queue.queue)}/${queue.paused ? "resume" : "pause"}`;
            this.depth.show(await call("POST", path));
        } catch (error) {
            notify(error.message);
        }
    }

    /** The counts of the hours that are shown, which both charts read at once. */
    readCounts() {
        const { hours } = this;
        if (this.reading?.hours !== hours) {
            const counts = get("v1/counts", { queue: session.queue, hours }, { signal: this.signal }).finally(() => {
                if (this.reading?.counts === counts) this.reading = undefined;
            });
            this.reading = { hours, counts };
        }
        return this.reading.counts;
    }

    refreshCounts() {
        this.counts.refresh();
        this.waits.refresh();
    }

    get periodCount() { return { 24: 24, 168: 28, 720: 30 }[this.hours]; }

    drawCounts(hours) {
        const bars = periods(hours, this.periodCount, sum);
        const total = name => bars.reduce((sum, bar) => sum + bar.counts[name], 0);
        const label = texts.chart(total("completed"), total("failed"), texts.ranges[this.hours]);
        const choice = h("div", { class: "segments", role: "group", "aria-label": texts.rangeLabel },
            Object.entries(texts.ranges).map(([value, text]) => h("button", {
                type: "button", "aria-pressed": String(Number(value) === this.hours), data: { key: value },
                on: { click: () => {
                    this.hours = Number(value);
                    this.refreshCounts();
                } },
            }, text)));
        const names = Object.keys(texts.columns);
        return [
            h("div", { class: "line" }, h("p", { class: "muted" },
                h("span", { class: "legend completed", "aria-hidden": "true" }), ` ${texts.legend.completed(total("completed"))} `,
                h("span", { class: "legend failed", "aria-hidden": "true" }), ` ${texts.legend.failed(total("failed"))}`), choice),
            bars.some(bar => bar.counts.completed + bar.counts.failed) ? barChart(bars, label, { withDays: this.hours > 24 })
                : h("p", { class: "empty" }, texts.chartEmpty),
            h("details", { data: { key: "table" } }, h("summary", null, texts.table),
                table(texts.table, Object.values(texts.columns), [...bars].reverse().map(bar => names.map(name =>
                    (name === "start" ? format.moment(bar.start) : format.number(bar.counts[name])))))),
        ];
    }

    /** The waiting times of the same hours. */
    drawWaits(hours) {
        const words = texts.waits;
        const points = periods(hours, this.periodCount, mean);
        const known = points.filter(point => point.waiting);
        const all = mean(hours).waiting;
        return [
            h("div", { class: "line" }, h("p", { class: "muted" },
                h("span", { class: "legend p50", "aria-hidden": "true" }), ` ${words.half(format.span(all?.p50))} `,
                h("span", { class: "legend p95", "aria-hidden": "true" }), ` ${words.most(format.span(all?.p95))}`)),
            known.length ? waitChart(points, words.chart(format.span(all.p50), format.span(all.p95), texts.ranges[this.hours]),
                { withDays: this.hours > 24 }) : h("p", { class: "empty" }, words.empty),
            h("details", { data: { key: "waits" } }, h("summary", null, words.table),
                table(words.table, Object.values(words.columns), known.reverse().map(({ start, waiting }) =>
                    [format.moment(start), format.number(waiting.count), format.span(waiting.p50), format.span(waiting.p95)])),
                this.hours > 24 ? h("p", { class: "muted" }, words.joined) : null),
        ];
    }

    drawFailures(jobs) {
        if (!jobs.length) return h("p", { class: "empty" }, texts.failuresEmpty);
        const codes = new Map();
        for (const job of jobs) {
            const code = job.error?.code;
            if (code) codes.set(code, (codes.get(code) ?? 0) + 1);
        }
        const most = Math.max(...codes.values());
        return [
            h("p", { class: "muted" }, texts.failuresOf(jobs.length)),
            h("ul", { class: "bars" }, [...codes].sort((one, other) => other[1] - one[1]).slice(0, 12).map(([code, count]) => {
                const bar = h("span", { class: "bar", "aria-hidden": "true" });
                bar.style.width = `${(100 * count) / most}%`;
                return h("li", null, h("a", { href: route("jobs", { state: "failed", code }), data: { key: code } }, code),
                    h("span", null, format.number(count)), bar);
            })),
        ];
    }

    drawWorkers(workers) {
        if (!workers.length) return h("p", { class: "empty" }, texts.workersEmpty);
        return [
            h("ul", { class: "plain-list" }, workers.slice(0, 20).map(worker => h("li", null, workerLine(worker)))),
            h("a", { href: route("workers") }, texts.allWorkers),
        ];
    }
}
customElements.define("overview-view", Overview);
