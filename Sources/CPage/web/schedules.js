// Schedules: when they run next, and what operators change about them.
import { h } from "./dom.js";
import * as format from "./format.js";
import { ListView } from "./lists.js";
import { editSchedule } from "./scheduleform.js";
import { texts } from "./texts.js";
import { actionButton, codeLine, jobLink, notify, table } from "./view.js";

const words = texts.schedule;

class Schedules extends ListView {
    view = "schedules";
    change = ["PUT", "/v1/schedules/{schedule}"];

    drawTools() {
        this.tools.append(actionButton(words.add, () => this.edit(null), { class: "primary", data: { action: "", key: "add" } }));
    }

    async edit(schedule) {
        if (await editSchedule(schedule, this.shown.data?.schedules ?? [])) this.shown.refresh();
    }

    draw(schedules) {
        if (!schedules.length) return [h("p", { class: "empty" }, texts.schedulesEmpty), codeLine(texts.schedulesCommand)];
        const columns = Object.values(words.columns);
        return table(texts.views.schedules, this.canChange ? [...columns, words.actions] : columns, schedules.map(schedule => [
            h("strong", null, schedule.name), h("code", null, schedule.cron), schedule.time_zone,
            schedule.next_at ? [format.moment(schedule.next_at), h("span", { class: "muted" }, " ",
                words.inTime(format.span((Date.parse(schedule.next_at) - Date.now()) / 1000))),
            h("details", { data: { key: `upcoming ${schedule.name}` } }, h("summary", null, words.upcoming),
                h("ol", { class: "plain-list" }, schedule.upcoming.map(time => h("li", null, format.moment(time)))))]
                : h("span", { class: "state delayed" }, words.paused),
            format.moment(schedule.last_at), schedule.job ? jobLink(schedule.job, { data: { key: schedule.job } }) : texts.none,
            h("span", { class: "wrap" }, schedule.source), schedule.format ?? texts.none,
            ...(this.canChange ? [this.drawActions(schedule)] : []),
        ]));
    }

    drawActions(schedule) {
        const { name } = schedule;
        const isPaused = !schedule.next_at;
        const verb = isPaused ? "resume" : "pause";
        return h("div", { class: "buttons tight" },
            this.rowButton(words.run, `run ${name}`, { method: "POST", path: this.path(name, "run"),
                done: ({ id }) => notify(texts.pushed(id)) }),
            this.rowButton(isPaused ? words.resume : words.pause, `pause ${name}`,
                { method: "POST", path: this.path(name, verb) }),
            actionButton(words.edit, () => this.edit(schedule), { class: "small", data: { action: "", key: `edit ${name}` } }),
            this.rowButton(words.remove, `remove ${name}`, { method: "DELETE", path: this.path(name),
                question: { title: words.removeQuestion(name), hint: words.removeHint, run: words.removeDo } }));
    }
}
customElements.define("schedules-view", Schedules);
