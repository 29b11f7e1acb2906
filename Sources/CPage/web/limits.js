// Limits of keys: what runs at once and what starts in a minute.
import { call, session } from "./api.js";
import { fill, h } from "./dom.js";
import { fieldOf, labelled } from "./fields.js";
import * as format from "./format.js";
import { ListView } from "./lists.js";
import { texts } from "./texts.js";
import { actionButton, openDialog, route, table } from "./view.js";

const words = texts.limit;

class Limits extends ListView {
    view = "limits";
    hint = texts.limitsHint;
    change = ["PUT", "/v1/limits/{key}"];

    drawTools() {
        this.tools.append(actionButton(words.add, () => this.edit(null), { class: "primary", data: { action: "", key: "add" } }));
    }

    draw(limits) {
        const columns = Object.values(words.columns);
        const most = value => (value === null ? words.unlimited : format.number(value));
        return table(texts.views.limits, this.canChange ? [...columns, words.actions] : columns, limits.map(limit => [
            limit.key === null ? h("em", null, words.otherKeys)
                : h("a", { href: route("jobs", { limit_key: limit.key }), data: { key: limit.key } }, limit.key),
            most(limit.limit), most(limit.rate), format.number(limit.running), format.number(limit.waiting),
            ...(this.canChange ? [this.drawActions(limit)] : []),
        ]));
    }

    drawActions(limit) {
        const { key } = limit;
        const isSet = key !== null && (limit.limit !== null || limit.rate !== null);
        return h("div", { class: "buttons tight" },
            actionButton(words.edit, () => this.edit(limit), { class: "small", data: { action: "", key: `edit ${key}` } }),
            isSet && this.rowButton(words.remove, `remove ${key}`, { method: "DELETE", path: this.path(key),
                question: { title: words.removeQuestion(key), hint: words.removeHint, run: words.removeDo } }));
    }

    async edit(limit) {
        const isStored = await openDialog(limit ? words.editTitle(limit.key ?? words.otherKeys) : words.addTitle, close => {
            const input = (name, value) => labelled(name, words.columns[name], h("input", { name, value: value ?? "",
                autocomplete: "off", spellcheck: "false", inputmode: name === "key" ? null : "numeric" }), words.hints[name]);
            const inputs = { key: input("key", limit?.key), limit: input("limit", limit?.limit), rate: input("rate", limit?.rate) };
            inputs.key.input.disabled = Boolean(limit);
            inputs.key.element.hidden = limit?.key === null;
            const problems = h("div", { role: "alert" });
            const save = actionButton(words.save, () => {}, { class: "primary", type: "submit" });
            const value = name => inputs[name].input.value.trim();
            const number = name => (value(name) === "" ? null : /^\d+$/.test(value(name)) ? Number(value(name)) : value(name));
            return h("form", { novalidate: true, on: { submit: async event => {
                event.preventDefault();
                for (const field of Object.values(inputs)) field.say("");
                if (!limit && !value("key")) {
                    inputs.key.say(words.hints.key);
                    return inputs.key.input.focus();
                }
                try {
                    await call("PUT", limit?.key === null ? "v1/limits" : this.path(value("key")),
                        { query: { queue: session.queue }, body: { limit: number("limit"), rate: number("rate") } });
                    return close(true);
                } catch (error) {
                    for (const problem of error.errors ?? []) inputs[fieldOf(problem.pointer, "")]?.say(problem.message);
                    return fill(problems, h("p", { class: "problem" }, error.message));
                }
            } } }, Object.values(inputs).map(field => field.element), problems,
            h("div", { class: "buttons" }, h("button", { type: "button", on: { click: () => close(false) } }, texts.cancel), save));
        });
        if (isStored) this.shown.refresh();
    }
}
customElements.define("limits-view", Limits);
