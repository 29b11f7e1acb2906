// A group of jobs with its counts.
import { get, session } from "./api.js";
import { h, throttle } from "./dom.js";
import { labelled } from "./fields.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { pairs, Part, route, stateLabel, View } from "./view.js";

class Groups extends View {
    view = "groups";

    build() {
        const name = labelled("group", texts.groupName, h("input", { autocomplete: "off", spellcheck: "false",
            value: this.subject ?? "" }));
        const form = h("form", { class: "inline", on: { submit: event => {
            event.preventDefault();
            const value = name.input.value.trim();
            if (value) location.hash = route("groups", {}, value);
        } } }, name.element, h("button", null, texts.groupOpen));
        this.append(this.heading, form);
        if (this.subject) {
            const path = `v1/groups/${encodeURIComponent(this.subject)}`;
            this.shown = Part.make(this.subject, () => get(path, { queue: session.queue }, { signal: this.signal }),
                group => this.draw(group));
            this.append(this.shown);
            const often = throttle(1000, () => this.shown.refresh());
            this.take = () => often();
            this.every(10000, () => this.shown.refresh());
        }
        this.append(Part.make(texts.groupHint, () => get("v1/jobs", {
            queue: session.queue, limit: 200, group: session.access.group_prefix ? this.subject : undefined,
        }, { signal: this.signal }), data => this.drawNames(data.jobs)));
    }

    drawNames(jobs) {
        const names = [...new Set(jobs.map(job => job.group).filter(Boolean))];
        if (!names.length) return h("p", { class: "empty" }, texts.groupsEmpty);
        return h("ul", { class: "plain-list" }, names.map(name => h("li", null,
            h("a", { href: route("groups", {}, name), data: { key: name } }, name))));
    }

    draw(group) {
        const names = texts.group;
        const ended = group.completed + group.failed + group.cancelled;
        return [
            h("progress", { max: Math.max(1, group.total), value: ended, "aria-label": texts.groupProgress(group.group) }),
            pairs([
                ...["total", "waiting", "delayed", "running", "completed", "failed", "cancelled"].map(name =>
                    [name in texts.states ? stateLabel(name) : names[name], format.number(group[name])]),
                [names.audio, format.clock(group.audio)], [names.sealed, group.sealed ? texts.yes : texts.no],
                [names.jobs_per_second, group.jobs_per_second ? group.jobs_per_second.toFixed(1) : null],
                [names.eta, group.eta === null ? null : format.span(group.eta)],
                [names.created_at, format.moment(group.created_at)], [names.finished_at, format.moment(group.finished_at)],
            ]),
            h("p", { class: "buttons" }, h("a", { href: route("jobs", { group: group.group }), data: { key: "jobs" } },
                texts.groupJobs), h("a", { href: route("jobs", { group: group.group, state: "failed" }), data: { key: "failed" } },
                texts.groupFailed)),
        ];
    }
}
customElements.define("groups-view", Groups);
