// The dialog that adds or changes a schedule.
import { call, get, session } from "./api.js";
import { fill, h } from "./dom.js";
import { fieldOf, FieldsEditor, labelled, loadFormats } from "./fields.js";
import { texts } from "./texts.js";
import { actionButton, notify, openDialog } from "./view.js";

const words = texts.schedule;

/** Asks for a schedule, a new one or changes of one; `all` are those that exist. Returns whether it was stored. */
export async function editSchedule(schedule, all) {
    const isNew = !schedule;
    let fields = {}, hidden = [];
    try {
        if (schedule) {
            ({ fields, hidden } = await get(`v1/schedules/${encodeURIComponent(schedule.name)}/fields`, { queue: session.queue }));
        }
    } catch (error) {
        notify(error.message);
        return false;
    }
    const own = { name: schedule?.name ?? "", cron: schedule?.cron ?? "", time_zone: schedule?.time_zone ?? "UTC" };
    return openDialog(isNew ? words.addTitle : words.editTitle(schedule.name), close => {
        const input = (name, value) => h("input", { name, value: value ?? "", autocomplete: "off", spellcheck: "false" });
        const inputs = {
            name: labelled("name", words.columns.name, input("name", own.name), words.nameHint),
            cron: labelled("cron", words.columns.cron, input("cron", own.cron), words.cronHint),
            time_zone: labelled("time_zone", words.columns.time_zone, input("time_zone", own.time_zone), words.zoneHint),
            source: labelled("source", texts.source, input("source", fields.source), words.sourceHint),
            format: labelled("format", texts.format, h("select", { name: "format" })),
        };
        inputs.name.input.disabled = !isNew;
        const editor = new FieldsEditor({ fixed: ["source", "format"] });
        for (const [name, value] of Object.entries(fields)) if (!(name in inputs)) editor.add(name, value);
        const problems = h("div", { role: "alert" });
        loadFormats(inputs.format.input, fields.format ?? "").catch(error => {
            fill(problems, h("p", { class: "problem" }, texts.partError, error.message));
        });
        // What is shown of these would replace all of them.
        const partial = hidden.map(name => {
            const field = inputs[name] ?? editor.add(name, fields[name] ?? "");
            return { field, shown: field.input.value, text: name === "source" ? texts.hiddenSource : words.hiddenField };
        });
        for (const { field, text } of partial) field.say(text);
        const isPartial = ({ field: { element, input }, shown }) => element.isConnected
            && (input.value === shown || (shown.includes("…") && input.value.includes("…")));
        const value = name => inputs[name].input.value.trim();
        const save = actionButton(isNew ? words.addDo : words.editDo, () => {}, { class: "primary", type: "submit" });
        const store = async () => {
            fill(problems);
            for (const field of Object.values(inputs)) field.say("");
            editor.showProblems([]);
            const missing = partial.filter(isPartial);
            for (const { field, text } of missing) field.say(text);
            if (missing.length) return form.querySelector("[aria-invalid]").focus();
            save.disabled = true;
            const body = { cron: value("cron"), time_zone: value("time_zone") || "UTC",
                fields: { ...editor.values(), source: value("source"), format: value("format") } };
            for (const name of ["source", "format"]) if (!body.fields[name]) delete body.fields[name];
            try {
                await call("PUT", `v1/schedules/${encodeURIComponent(value("name"))}`, { query: { queue: session.queue }, body });
                close(true);
            } catch (error) {
                save.disabled = false;
                const rest = editor.showProblems(error.errors ?? [], "/fields").filter(problem => {
                    const field = inputs[fieldOf(problem.pointer, "/fields") || fieldOf(problem.pointer, "")];
                    field?.say(problem.message);
                    return !field;
                });
                if (rest.length || !error.errors?.length) fill(problems, h("p", { class: "problem" }, error.message));
                (form.querySelector("[aria-invalid]") ?? save).focus();
            }
            return undefined;
        };
        const form = h("form", { novalidate: true, autocomplete: "off", on: { submit: event => {
            event.preventDefault();
            const isTaken = isNew && all.some(one => one.name === value("name"));
            if (value("name") && !isTaken) return store();
            inputs.name.say(isTaken ? words.taken : words.nameHint);
            return inputs.name.input.focus();
        } } },
        inputs.name.element, h("div", { class: "pair" }, inputs.cron.element, inputs.time_zone.element),
        inputs.source.element, inputs.format.element,
        hidden.length ? h("p", { class: "muted" }, words.hidden(hidden.join(", "))) : null,
        h("h3", null, texts.moreFields), editor.element, problems,
        h("div", { class: "buttons" }, h("button", { type: "button", on: { click: () => close(false) } }, texts.cancel), save));
        return form;
    });
}
