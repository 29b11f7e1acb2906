// The views that are lists: groups, schedules, callbacks, limits, and what a small screen has under "More".
import { get, session } from "./api.js";
import { h, throttle } from "./dom.js";
import { labelled } from "./fields.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { codeLine, jobLink, pairs, Part, route, stateLabel, table, View } from "./view.js";

/** A view of one table, read again now and then. */
class ListView extends View {
    build() {
        const part = Part.make(null, () => get(`v1/${this.view}`, { queue: session.queue }, { signal: this.signal }),
            data => this.draw(data[this.view]));
        this.append(this.heading, this.hint ? h("p", { class: "muted" }, this.hint) : "", part);
        this.every(15000, () => part.refresh());
    }
}

class Schedules extends ListView {
    view = "schedules";

    draw(schedules) {
        if (!schedules.length) return [h("p", { class: "empty" }, texts.schedulesEmpty), codeLine(texts.schedulesCommand)];
        const names = texts.schedule;
        return table(texts.views.schedules, Object.values(names), schedules.map(schedule => [
            h("strong", null, schedule.name), h("code", null, schedule.cron), schedule.time_zone,
            schedule.next_at ? [format.moment(schedule.next_at), h("span", { class: "muted" }, " ",
                texts.inTime(format.span((Date.parse(schedule.next_at) - Date.now()) / 1000))),
            h("details", { data: { key: `upcoming ${schedule.name}` } }, h("summary", null, texts.upcoming),
                h("ol", { class: "plain-list" }, schedule.upcoming.map(time => h("li", null, format.moment(time)))))]
                : h("span", { class: "state delayed" }, texts.pausedSchedule),
            format.moment(schedule.last_at), schedule.job ? jobLink(schedule.job, { data: { key: schedule.job } }) : texts.none,
            h("span", { class: "wrap" }, schedule.source), schedule.format ?? texts.none,
        ]));
    }
}
customElements.define("schedules-view", Schedules);

class Callbacks extends ListView {
    view = "callbacks";

    draw(callbacks) {
        if (!callbacks.length) return h("p", { class: "empty" }, texts.callbacksEmpty);
        const names = texts.callback;
        return table(texts.views.callbacks, Object.values(names), callbacks.map(callback => [
            callback.state, callback.type,
            callback.job ? jobLink(callback.job, { data: { key: callback.id } })
                : callback.group ? h("a", { href: route("groups", {}, callback.group) }, callback.group) : texts.none,
            h("span", { class: "wrap" }, callback.url), callback.attempt, format.moment(callback.created_at),
            format.moment(callback.due_at),
            callback.log.length ? h("ul", null, callback.log.map(entry => h("li", null, texts.delivery(entry)))) : texts.none,
        ]));
    }
}
customElements.define("callbacks-view", Callbacks);

class Limits extends ListView {
    view = "limits";
    hint = texts.limitsHint;

    draw(limits) {
        const names = texts.limit;
        const most = value => (value === null ? texts.unlimited : format.number(value));
        return table(texts.views.limits, Object.values(names), limits.map(limit => [
            limit.key === null ? h("em", null, texts.otherKeys)
                : h("a", { href: route("jobs", { limit_key: limit.key }), data: { key: limit.key } }, limit.key),
            most(limit.limit), most(limit.rate), format.number(limit.running), format.number(limit.waiting),
        ]));
    }
}
customElements.define("limits-view", Limits);

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

class More extends View {
    view = "more";

    build() {
        this.append(this.heading, h("ul", { class: "card plain-list" },
            ["workers", "groups", "schedules", "callbacks", "limits"].map(name => h("li", null,
                h("a", { href: route(name) }, texts.views[name])))));
    }
}
customElements.define("more-view", More);
