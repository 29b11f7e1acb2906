// The list of jobs: filters that are in the address, live rows, actions on selected jobs.
import { constant, get, has, session } from "./api.js";
import { act, actOnFilter } from "./actions.js";
import { debounce, fill, h, throttle } from "./dom.js";
import { labelled } from "./fields.js";
import * as format from "./format.js";
import "./rowlist.js";
import { texts } from "./texts.js";
import { actionButton, announce, codeLine, ends, jobLink, route, stateLabel, View } from "./view.js";

const pageSize = 200;
const names = ["q", "state", "code", "group", "worker", "limit_key", "older_than"];

/** The list that was left last: its place is kept while a job of it is looked at. */
let left = null;

class Jobs extends View {
    view = "jobs";
    jobs = [];
    byID = new Map();
    selected = new Set();
    next = null;
    isReading = false;
    generation = 0;

    build() {
        this.filters = { ...this.parameters };
        this.list = document.createElement("row-list");
        this.list.label = texts.jobList;
        this.list.draw = job => this.drawRow(job);
        this.list.onEnd = () => { if (this.next && !this.isReading) this.more(); };
        this.status = h("p", { class: "muted count" });
        this.bulk = h("div", { class: "bulk" });
        this.message = h("div", { class: "message" });
        this.append(h("div", { class: "head" }, this.heading, this.status), this.drawFilters(), this.bulk, this.list,
            this.message);
        this.drawBulk();
        has("POST", "/v1/jobs/actions").then(answer => {
            this.hasBulk = answer;
            this.drawBulk();
        });
        this.refresh = throttle(1000, () => this.merge());
        this.fetches = new Set();
        this.fetchSoon = throttle(200, () => this.fetchVisible());
        // A token for groups gets no events of the queue.
        if (session.access.group_prefix) this.every(5000, () => this.merge());
        // Ages in rows go on; nothing is read for them.
        this.every(10000, () => this.list.updateAll());
        this.onEnd(() => {
            left = { address: this.address(), jobs: this.jobs, next: this.next, top: this.list.place ?? 0,
                active: this.list.active, isWhole: !this.isReading };
        });
        if (left?.isWhole && left.address === this.address()) this.restore(left);
        else this.reload();
        left = null;
    }

    address() { return `${session.queue} ${route("jobs", this.filters)}`; }

    /** Shows the list that was left, and what changed meanwhile. */
    restore({ jobs, next, top, active }) {
        this.jobs = jobs;
        this.byID = new Map(jobs.map(job => [job.id, job]));
        this.next = next;
        this.clear.hidden = names.every(name => !this.filters[name]);
        this.list.active = active;
        this.list.set(jobs);
        this.drawStatus();
        requestAnimationFrame(() => {
            this.list.render();
            this.list.scrollTop = top;
            this.list.render();
            for (const job of jobs) if (this.list.isVisible(job.id)) this.fetches.add(job.id);
            this.fetchSoon();
            this.merge();
            // Somebody may already have gone to the search.
            if (active >= 0 && !document.activeElement.matches("input, select")) this.list.move(active);
        });
        if (!jobs.length && !next) this.drawEmpty();
    }

    drawFilters() {
        const inputs = {};
        const changed = () => this.filter(Object.fromEntries(names.map(name => [name, inputs[name].value.trim()])));
        const later = debounce(300, changed);
        const choice = (name, options) => {
            inputs[name] = h("select", { on: { change: changed } }, h("option", { value: "" }, texts.any),
                options.map(([value, text]) => h("option", { value }, text)));
            inputs[name].value = this.filters[name] ?? "";
        };
        choice("state", Object.entries(texts.states));
        choice("older_than", Object.entries(texts.ages));
        choice("code", this.filters.code ? [[this.filters.code, this.filters.code]] : []);
        inputs.code.value = this.filters.code ?? "";
        for (const name of ["q", "group", "worker", "limit_key"]) {
            inputs[name] = h("input", { type: name === "q" ? "search" : "text", autocomplete: "off", spellcheck: "false",
                value: this.filters[name] ?? "", on: { input: later } });
        }
        this.search = inputs.q;
        this.inputs = inputs;
        constant("v1/openapi.json").then(document => {
            const list = document.paths["/v1/jobs"].get.parameters;
            const codes = list.find(parameter => parameter.name === "code").schema.enum;
            inputs.code.replaceChildren(h("option", { value: "" }, texts.any),
                ...codes.map(code => h("option", { value: code }, code)));
            inputs.code.value = this.filters.code ?? "";
        }).catch(() => { /* The codes of the address remain. */ });
        this.clear = h("button", { type: "button", class: "small", on: { click: () => {
            for (const name of names) inputs[name].value = "";
            changed();
            this.search.focus();
        } } }, texts.clearFilters);
        const shown = ["code", "group", "worker", "limit_key", "older_than"];
        const details = h("details", { class: "filter-more" }, h("summary", null, texts.filters),
            h("div", { class: "filters" }, shown.map(name => labelled(name, texts.filter[name], inputs[name]).element)));
        const wide = matchMedia("(min-width: 60em)");
        details.open = wide.matches || shown.some(name => this.filters[name]);
        return h("search", null, h("div", { class: "filters first" },
            labelled("q", texts.filter.q, inputs.q).element, labelled("state", texts.filter.state, inputs.state).element,
            this.clear), details);
    }

    /** Other filters: the address changes with them, so that it can be passed on. */
    filter(values) {
        if (names.every(name => (values[name] ?? "") === (this.filters[name] ?? ""))) return;
        this.filters = values;
        history.replaceState(null, "", route("jobs", values));
        this.selected.clear();
        this.reload();
    }

    /** The address changed. */
    open(parameters) {
        for (const name of names) this.inputs[name].value = parameters[name] ?? "";
        if (names.every(name => (parameters[name] ?? "") === (this.filters[name] ?? ""))) return;
        this.filters = { ...parameters };
        this.selected.clear();
        this.reload();
    }

    query() {
        const query = { queue: session.queue, limit: pageSize };
        for (const name of names) query[name] = this.filters[name];
        return query;
    }

    reload() {
        this.generation++;
        this.jobs = [];
        this.byID.clear();
        this.next = null;
        this.cursor = undefined;
        this.isReading = false;
        this.list.scrollTop = 0;
        this.list.set([]);
        this.clear.hidden = names.every(name => !this.filters[name]);
        this.drawBulk();
        this.more();
    }

    /** Reads the next page. Pages may be empty although more follow, so it goes on until there are enough. */
    async more() {
        const generation = this.generation;
        this.isReading = true;
        let found = 0, looked = 0;
        try {
            do {
                const page = await get("v1/jobs", { ...this.query(), cursor: this.next }, { signal: this.signal });
                if (generation !== this.generation) return;
                looked += page.scanned;
                this.next = page.next;
                for (const job of page.jobs) {
                    if (this.byID.has(job.id)) continue;
                    this.byID.set(job.id, job);
                    this.jobs.push(job);
                    found++;
                }
                this.list.set(this.jobs);
                this.drawStatus(this.next && found < 50 ? looked : 0);
            } while (this.next && found < 50 && looked < 20000);
            fill(this.message);
            if (!this.jobs.length && !this.next) this.drawEmpty();
        } catch (error) {
            if (generation !== this.generation || error.name === "AbortError") return;
            fill(this.message, h("p", { class: "problem" }, texts.partError, error.message),
                h("button", { type: "button", on: { click: () => this.more() } }, texts.retryPart));
        } finally {
            if (generation === this.generation) this.isReading = false;
        }
    }

    drawEmpty() {
        const isFiltered = names.some(name => this.filters[name]);
        fill(this.message, isFiltered ? h("p", { class: "empty" }, texts.jobsEmpty)
            : [h("p", { class: "empty" }, texts.jobsNone), codeLine(texts.jobsNoneCommand(session.queue))]);
    }

    drawStatus(looked = 0) {
        this.status.textContent = texts.loaded(this.jobs.length, this.next) + (looked ? ` · ${texts.searching(looked)}` : "");
    }

    /** Reads the first page again and joins it with the list, which keeps its place. */
    async merge() {
        if (this.isReading || !this.isConnected) return;
        const generation = this.generation;
        let page;
        try {
            page = await get("v1/jobs", this.query(), { signal: this.signal });
        } catch {
            return;
        }
        if (generation !== this.generation) return;
        const fresh = page.jobs.filter(job => !this.byID.has(job.id));
        for (const job of page.jobs) this.put(job);
        if (fresh.length) {
            // Rows that are being read stay where they are.
            const top = this.list.scrollTop;
            this.jobs.unshift(...fresh);
            this.list.set(this.jobs);
            if (top > 0) this.list.scrollTop = top + fresh.length * this.list.rowHeight();
            fill(this.message);
        }
        this.drawStatus();
    }

    put(job) {
        const known = this.byID.get(job.id);
        if (known) {
            Object.assign(known, job);
            this.list.update(job.id);
        } else {
            this.byID.set(job.id, job);
        }
    }

    take(events) {
        let isNew = false;
        const gone = new Set();
        for (const { kind, data } of events) {
            if (kind === "gap") isNew = true;
            if (kind === "gap") for (const job of this.jobs) if (this.list.isVisible(job.id)) this.fetches.add(job.id);
            if (kind !== "job") continue;
            const job = this.byID.get(data.id);
            if (data.state === "purged") {
                if (job) gone.add(data.id);
            } else if (data.state in texts.states) {
                const fits = !this.filters.state || this.filters.state === data.state;
                if (!job) {
                    isNew ||= fits;
                    continue;
                }
                job.state = data.state;
                if (data.details?.progress) job.progress = Number(data.details.progress);
                if (data.details?.attempt) job.attempt = Number(data.details.attempt);
                if (ends.includes(data.state)) job.finished_at = data.at;
                if (data.state !== "running" || data.details?.attempt) this.fetches.add(data.id);
                if (fits) this.list.update(data.id);
                else gone.add(data.id);
            }
        }
        if (gone.size) {
            for (const id of gone) {
                this.byID.delete(id);
                this.selected.delete(id);
            }
            this.jobs = this.jobs.filter(job => !gone.has(job.id));
            this.list.set(this.jobs);
            this.drawStatus();
            this.drawBulk();
            if (!this.jobs.length && !this.next) this.drawEmpty();
        }
        if (isNew) this.refresh();
        if (this.fetches.size) this.fetchSoon();
    }

    /** Reads visible jobs whose state changed: an event does not have the error, the speed or the result. */
    async fetchVisible() {
        const ids = [...this.fetches].filter(id => this.list.isVisible(id)).slice(0, 30);
        this.fetches.clear();
        for (const id of ids) {
            try {
                const job = await get(`v1/jobs/${encodeURIComponent(id)}`, { queue: session.queue }, { signal: this.signal });
                if (this.byID.has(id)) this.put(job);
            } catch (error) {
                if (error.status !== 404) return;
                this.take([{ kind: "job", data: { id, state: "purged" } }]);
            }
        }
    }

    drawRow(job) {
        const isDone = ends.includes(job.state);
        const box = h("input", { type: "checkbox", "aria-label": texts.selectJob(job.id), checked: this.selected.has(job.id),
            data: { key: `box ${job.id}` }, on: { change: event => this.select(job.id, event.target.checked) } });
        return [
            session.mayOperate() ? box : h("span"),
            stateLabel(job.state),
            jobLink(job.id, { class: "id mono", data: { key: job.id } }),
            h("span", { class: "what", title: job.source ?? "" }, format.fileName(job.source), " → ", job.format ?? texts.none),
            h("span", { class: "how" }, this.drawHow(job)),
            h("span", { class: "by muted" }, job.group ?? ""),
            h("span", { class: "when muted" }, format.age(isDone ? job.finished_at : job.created_at)),
        ];
    }

    drawHow(job) {
        if (job.state === "running") {
            return [h("progress", { max: 1, value: job.progress ?? 0, "aria-label": texts.progressOf(job.id) }),
                ` ${format.percent(job.progress ?? 0)}`, job.speed ? ` ${texts.speed(job.speed)}` : null];
        }
        if (job.state === "completed") {
            const outputs = job.outputs ?? [];
            const loudness = outputs[0]?.loudness;
            return [format.bytes(outputs.reduce((sum, output) => sum + (output.bytes ?? 0), 0)),
                outputs[0]?.duration ? ` · ${format.clock(outputs[0].duration)}` : null,
                loudness?.after?.integrated !== undefined ? ` · ${format.loudness(loudness.after.integrated)}` : null];
        }
        if (job.error) {
            return h("span", { title: job.error.message, class: "problem" }, job.error.code,
                ` ${texts.attempt(job.attempt, job.attempts)}`);
        }
        if (job.due_at) return texts.due(format.moment(job.due_at));
        return job.priority === "normal" ? "" : texts.priorities[job.priority];
    }

    select(id, isSelected) {
        if (isSelected) this.selected.add(id);
        else this.selected.delete(id);
        this.drawBulk();
    }

    drawBulk() {
        if (!session.mayOperate()) return;
        const count = this.selected.size;
        this.all ??= h("input", { type: "checkbox", "aria-label": texts.selectAll, on: { change: event => {
            this.selected = new Set(event.target.checked ? this.jobs.map(job => job.id) : []);
            this.list.updateAll();
            this.drawBulk();
        } } });
        this.all.checked = count > 0 && count === this.jobs.length;
        this.all.indeterminate = count > 0 && count < this.jobs.length;
        this.bulkText ??= h("span");
        this.bulkText.textContent = count ? texts.selected(count) : texts.selectAll;
        this.bulkButtons ??= h("div", { class: "buttons" });
        if (!this.bulk.firstChild) this.bulk.append(h("label", null, this.all, " ", this.bulkText), this.bulkButtons);
        const isFiltered = names.some(name => this.filters[name]);
        const kind = count ? "selected" : this.hasBulk && isFiltered ? "filtered" : "";
        if (kind === this.bulkKind) return;
        this.bulkKind = kind;
        fill(this.bulkButtons,
            kind === "filtered" ? [h("span", { class: "muted" }, texts.allMatching),
                Object.keys(texts.actions).map(name => actionButton(texts.actions[name].button, () => this.actOnAll(name),
                    { class: "small", data: { action: "", key: name } }))] : null,
            count ? Object.keys(texts.actions).map(name => actionButton(texts.actions[name].button, () => this.act(name),
                { class: "small", data: { action: "", key: name } })) : null,
            count ? h("button", { type: "button", class: "small", data: { key: "none" }, on: { click: () => {
                this.selected.clear();
                this.list.updateAll();
                this.drawBulk();
            } } }, texts.clearSelection) : null);
    }

    async actOnAll(name) {
        const filter = Object.fromEntries(names.filter(name => this.filters[name]).map(name => [name, this.filters[name]]));
        if (await actOnFilter(name, filter)) this.reload();
    }

    async act(name) {
        let ids = [...this.selected];
        const active = this.jobs[this.list.active];
        if (!ids.length && active) ids = [active.id];
        const changed = await act(name, ids.map(id => this.byID.get(id)).filter(Boolean));
        for (const id of changed) {
            this.selected.delete(id);
            this.fetches.add(id);
            if (name === "delete") this.take([{ kind: "job", data: { id, state: "purged" } }]);
        }
        this.fetchSoon();
        this.drawBulk();
        this.list.updateAll();
    }

    /** The keys of this view; true if one was used. */
    key(key) {
        const active = this.jobs[this.list.active];
        if (key === "j" || key === "k") {
            this.list.move(this.list.active + (key === "j" ? 1 : -1));
            const job = this.jobs[this.list.active];
            if (job) announce(`${texts.states[job.state]} ${format.fileName(job.source)}`);
        } else if (key === "x" && active && session.mayOperate()) {
            this.select(active.id, !this.selected.has(active.id));
            this.list.update(active.id);
        } else if (key === "r" && session.mayOperate()) {
            this.act("retry");
        } else if (key === "c" && session.mayOperate()) {
            this.act("cancel");
        } else {
            return false;
        }
        return true;
    }
}
customElements.define("jobs-view", Jobs);
