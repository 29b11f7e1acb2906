// One job: its state, its outputs, its fields, its log, and what can be done with it.
import { call, get, has, session } from "./api.js";
import { act, possible } from "./actions.js";
import { commands } from "./commands.js";
import { Comparison, heardOutputs } from "./compare.js";
import { fill, h, throttle } from "./dom.js";
import * as format from "./format.js";
import { listenLinks } from "./player.js";
import { hasPreviews } from "./preview.js";
import { texts } from "./texts.js";
import { timeline } from "./timeline.js";
import { actionButton, codeLines, ends, notify, openDialog, pairs, Part, route, stateLabel, table, View } from "./view.js";
import { follow } from "./events.js";


class Job extends View {
    view = "job";

    build() {
        const path = `v1/jobs/${encodeURIComponent(this.subject)}`;
        const read = suffix => get(path + suffix, { queue: session.queue }, { signal: this.signal });
        this.heading.classList.add("mono");
        this.heading.textContent = this.subject;
        this.actions = h("div", { class: "buttons" });
        this.main = Part.make(null, () => read(""), job => this.draw(job), { class: "plain" });
        this.main.isStable = true;
        this.main.explain = error => (error.status === 404 ? texts.jobGone : null);
        this.fields = Part.make(texts.fields, () => read("/fields"), data => this.drawFields(data));
        this.log = Part.make(texts.log, () => read("/log"), data => this.drawLog(data.lines));
        this.course = h("section", { class: "card", hidden: true }, h("h2", null, texts.timeline.title), h("div"));
        this.sound = h("div", { hidden: true });
        this.outputs = h("section", { class: "card", hidden: true });
        this.append(h("a", { href: route("jobs"), class: "back" }, texts.backToJobs),
            h("div", { class: "head" }, this.heading, this.actions), this.main, this.sound, this.outputs,
            this.course, this.fields, this.log);
        this.onEnd(() => this.comparison?.close());
        has("POST", "/v1/jobs/{id}/run").then(answer => {
            this.canRun = answer;
            if (this.job) this.drawActions(this.job);
        });
        const again = throttle(300, () => this.main.refresh());
        const log = throttle(1500, () => this.log.refresh());
        follow(this.subject);
        this.onEnd(() => follow());
        this.take = events => {
            for (const { kind, data } of events) {
                if (kind !== "gap" && data.id !== this.subject) continue;
                again();
                // Attempts write their log when they begin and end.
                if (kind === "gap" || data.state !== "running" || data.details?.attempt) log();
            }
        };
        // Speed and time left have no events.
        this.every(1000, () => { if (this.job?.state === "running") this.main.refresh(); });
        this.every(10000, () => { if (this.job && !ends.includes(this.job.state)) this.main.refresh(); });
    }

    draw(job) {
        const names = texts.jobFields;
        this.job = job;
        this.drawActions(job);
        this.drawSound(job);
        this.drawOutputs(job.outputs);
        this.drawCourse();
        const took = ends.includes(job.state) && job.started_at
            ? (Date.parse(job.finished_at) - Date.parse(job.started_at)) / 1000 : null;
        const file = format.fileName(job.source);
        return [
            h("div", { class: "card" },
                h("p", { class: "lead" }, stateLabel(job.state), " ", h("strong", null, `${file} → ${job.format ?? texts.none}`)),
                job.state === "running" ? this.drawProgress(job) : null,
                pairs([
                    [names.source, h("span", { class: "mono wrap" }, job.source), true],
                    [names.phase, job.phase],
                    [names.attempt, job.attempt ? texts.attempt(job.attempt, job.attempts) : null],
                    [names.crashes, job.crashes || null],
                    [names.group, job.group && h("a", { href: route("groups", {}, job.group), data: { key: "group" } }, job.group)],
                    [names.priority, job.priority === "normal" ? null : texts.priorities[job.priority] ?? job.priority],
                    [names.worker, job.worker],
                    [names.created_at, format.moment(job.created_at)],
                    [names.due_at, format.moment(job.due_at)],
                    [names.started_at, format.moment(job.started_at)],
                    [names.finished_at, format.moment(job.finished_at)],
                    [names.took, took === null ? null : format.span(took)],
                    [names.speed, job.speed ? texts.speed(job.speed) : null],
                ])),
            job.error ? h("div", { class: "card error", role: "group", "aria-label": texts.error }, h("h2", null, texts.error),
                h("p", { class: "problem" }, h("strong", { class: "mono" }, job.error.code), " ", job.error.message),
                job.error.fields?.length > 1
                    ? h("ul", { class: "problem" }, job.error.fields.map(one => h("li", null, one.message))) : null,
                h("p", { class: "muted" }, job.error.retryable ? texts.retryable : texts.notRetryable)) : null,
        ];
    }

    /** A player stays while the outputs are the same. */
    drawOutputs(outputs) {
        const drawing = JSON.stringify(outputs);
        if (drawing === this.outputsOf) return;
        this.outputsOf = drawing;
        this.outputs.hidden = !outputs?.length;
        fill(this.outputs, h("h2", null, texts.outputs),
            (outputs ?? []).map((output, index) => this.drawOutput(output, index)));
    }

    drawActions(job) {
        const drawing = `${job.state} ${this.canRun}`;
        if (this.drawnFor === drawing) return;
        this.drawnFor = drawing;
        const button = name => actionButton(texts.actions[name].button, () => this.act(name), { data: { action: "", key: name } });
        const canRun = job.state === "delayed" && this.canRun;
        fill(this.actions, session.mayOperate() ? [
            canRun ? actionButton(texts.runNow, () => this.run(), { data: { action: "", key: "run" } }) : null,
            possible(job.state).map(button)] : null,
            session.mayPush() ? h("a", { class: "button", href: route("push", { job: job.id }), data: { key: "again" } },
                texts.again) : null,
            h("button", { type: "button", data: { key: "copy" }, on: { click: () => this.copy() } }, texts.copyAs));
    }

    drawProgress(job) {
        return h("div", { class: "progress" },
            h("progress", { max: 1, value: job.progress ?? 0, "aria-label": texts.progressOf(job.id) }),
            h("span", null, [
                format.percent(job.progress ?? 0), job.estimated ? texts.estimated : null,
                job.duration ? texts.converted(format.clock(job.position ?? 0), format.clock(job.duration)) : null,
                job.eta === null ? null : `${texts.jobFields.eta}: ${format.span(job.eta)}`,
            ].filter(Boolean).join(" · ")));
    }

    drawOutput(output, index) {
        const names = texts.output;
        const label = output.url;
        if (output.error) {
            return h("section", { class: "output" }, h("p", { class: "mono wrap" }, label),
                h("p", { class: "problem" }, output.error.code, " ", output.error.message));
        }
        const { before, after } = output.loudness ?? {};
        const level = value => format.loudness(value?.integrated);
        const settings = Object.entries(output.settings ?? {});
        return h("section", { class: "output" },
            listenLinks(this.subject, output, index),
            pairs([
                [names.url, h("span", { class: "mono wrap" }, label), true],
                [names.format, [output.format, output.codec].filter(Boolean).join(" · ")],
                [names.bytes, format.bytes(output.bytes)],
                [names.duration, format.clock(output.duration, 3)],
                [names.sample_rate, output.sample_rate ? texts.hertz(output.sample_rate) : null],
                [names.channels, output.channels || null],
                [names.bit_rate, output.bit_rate ? texts.bitRate(output.bit_rate) : null],
                [names.copied, output.copied ? texts.yes : null],
                [names.damage, output.damage?.events ? texts.damaged(output.damage.seconds, output.damage.events) : null],
                [names.loudness, after === undefined ? null : `${level(before)} → ${level(after)}`],
                [names.sha256, h("span", { class: "mono wrap" }, output.sha256), true],
            ]),
            output.warnings?.length ? [h("h3", null, texts.warnings), h("ul", null, output.warnings.map(warning =>
                h("li", null, typeof warning === "string" ? warning : warning.message ?? JSON.stringify(warning))))] : null,
            settings.length ? h("details", { data: { key: `settings ${index}` } }, h("summary", null, texts.settings),
                table(texts.settings, [texts.setting.name, texts.setting.requested, texts.setting.effective],
                    settings.map(([name, setting]) => [name, setting.requested ?? texts.none, setting.effective ?? texts.none])))
                : null,
            h("details", { data: { key: `report ${index}` } }, h("summary", null, texts.report),
                h("pre", { tabindex: "0" }, JSON.stringify(output, null, 2))));
    }

    drawFields({ fields, hidden }) {
        this.pushed = fields;
        return [
            pairs(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, value]) =>
                [h("code", null, name), h("span", { class: "mono wrap" }, value), value.length > 24])),
            hidden.length ? h("p", { class: "muted" }, texts.hiddenFields(hidden.join(", "))) : null,
        ];
    }

    /** The player stays while what it plays is the same. */
    drawSound(job) {
        const heard = heardOutputs(job);
        const drawing = JSON.stringify(heard.map(({ output }) => [output.url, output.sha256]));
        this.sound.hidden = !heard.length || !hasPreviews();
        if (drawing === this.soundOf) return;
        this.soundOf = drawing;
        this.comparison?.close();
        this.comparison = this.sound.hidden ? null : new Comparison(job, this.signal);
        fill(this.sound, this.comparison?.element);
    }

    drawCourse() {
        if (!this.job || !this.lines) return;
        this.course.hidden = false;
        fill(this.course.lastChild, timeline(this.job, this.lines));
    }

    drawLog(lines) {
        this.lines = lines;
        this.drawCourse();
        if (!lines.length) return h("p", { class: "empty" }, texts.logEmpty);
        return h("pre", { class: "log", tabindex: "0", role: "group", "aria-label": texts.log }, lines.join("\n"));
    }

    async run() {
        try {
            await call("POST", `v1/jobs/${encodeURIComponent(this.subject)}/run`, { query: { queue: session.queue } });
            notify(texts.started);
        } catch (error) {
            notify(error.message);
        }
        this.main.refresh();
    }

    copy() {
        const lines = commands(this.pushed ?? {});
        openDialog(texts.copyAs, close => [
            codeLines(lines),
            h("div", { class: "buttons" }, h("button", { type: "button", on: { click: () => close() } }, texts.close)),
        ]);
    }

    async act(name) {
        if (!this.job) return;
        const changed = await act(name, [this.job]);
        if (!changed.length) return;
        if (name === "delete") location.hash = route("jobs");
        else this.reload();
    }

    key(key, target) {
        if (this.comparison?.key(key, target)) return true;
        const name = { r: "retry", c: "cancel" }[key];
        if (key === "Escape") {
            history.length > 1 ? history.back() : location.assign(route("jobs"));
        } else if (name && this.job && session.mayOperate() && possible(this.job.state).includes(name)) {
            this.act(name);
        } else {
            return false;
        }
        return true;
    }
}
customElements.define("job-view", Job);
