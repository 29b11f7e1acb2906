// An editor of a job's further fields, each with its description and what is wrong with it.
import { constant } from "./api.js";
import { h } from "./dom.js";
import { texts } from "./texts.js";

let count = 0;

/** A label, an input and a place for a problem. */
export function labelled(name, title, input, hint) {
    const id = `field-${count++}`;
    input.id = id;
    const note = hint ? h("small", { id: `${id}-hint` }, hint) : null;
    const problem = h("small", { id: `${id}-problem`, class: "problem", hidden: true });
    if (note) input.setAttribute("aria-describedby", note.id);
    const element = h("div", { class: "field", data: { field: name } }, h("label", { for: id }, title), input, note, problem);
    return {
        element, input,
        say(text) {
            problem.textContent = text;
            problem.hidden = !text;
            if (text) input.setAttribute("aria-invalid", "true");
            else input.removeAttribute("aria-invalid");
            input.setAttribute("aria-describedby", [note?.id, text && problem.id].filter(Boolean).join(" "));
        },
    };
}

/** Fills a list with all formats, and selects one of them. */
export async function loadFormats(select, wanted) {
    const { formats } = await constant("v1/formats");
    const value = select.value || wanted;
    select.replaceChildren(h("option", { value: "" }, texts.formatAny),
        ...formats.map(one => h("option", { value: one.format }, `${one.format} – ${one.summary}`)));
    select.value = value;
}

/** The field of a JSON pointer below another one: `/set/bit_rate` below `/set` is `bit_rate`. */
function fieldOf(pointer, below) {
    if (!pointer.startsWith(below + "/")) return "";
    return pointer.slice(below.length + 1).split("/")[0].replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Fields with values, to which others can be added. */
export class FieldsEditor {
    #fields = new Map();
    #schema = {};

    /** `fixed` are the names of fields that are edited elsewhere. */
    constructor({ fixed = [], isRetry = false, onChange = () => {} } = {}) {
        this.fixed = new Set(fixed);
        this.isRetry = isRetry;
        this.onChange = onChange;
        this.list = h("div", { class: "fields" });
        this.choice = h("select", { on: { change: () => {
            const name = this.choice.value;
            if (name) this.add(name, "").input.focus();
        } } });
        this.element = h("div", null, this.list, labelled("", texts.addField, this.choice).element);
        this.ready = this.#load();
    }

    async #load() {
        try {
            this.#schema = (await constant("v1/fields")).properties;
        } catch { /* Values can still be shown and removed. */ }
        for (const [name, field] of this.#fields) field.note.textContent = this.#describe(name);
        this.#options();
    }

    #describe(name) {
        const field = this.#schema[name];
        return field ? field.description + (field["x-default"] ? ` (${field["x-default"]})` : "") : "";
    }

    #options() {
        const names = Object.keys(this.#schema).filter(name => !this.#fields.has(name) && !this.fixed.has(name)).sort();
        this.choice.replaceChildren(h("option", { value: "" }, ""), ...names.map(name => h("option", { value: name }, name)));
    }

    add(name, value) {
        let field = this.#fields.get(name);
        if (!field) {
            const isLong = ["metadata", "outputs", "source_headers", "output_headers"].includes(name);
            const input = h(isLong ? "textarea" : "input", { autocomplete: "off", spellcheck: "false",
                on: { input: () => this.onChange() } });
            field = labelled(name, name, input, this.#describe(name) || " ");
            field.note = field.element.querySelector("small");
            field.element.append(h("button", { type: "button", class: "small remove", "aria-label": texts.removeField(name),
                on: { click: () => this.remove(name) } }, "✕"));
            this.#fields.set(name, field);
            this.list.append(field.element);
            this.#options();
        }
        field.input.value = value;
        this.onChange();
        return field;
    }

    remove(name) {
        this.#fields.get(name)?.element.remove();
        this.#fields.delete(name);
        this.#options();
        this.choice.focus();
        this.onChange();
    }

    clear() {
        for (const field of this.#fields.values()) field.element.remove();
        this.#fields.clear();
        this.#options();
    }

    /** The values; in a retry, an empty one removes the field. */
    values() {
        const values = {};
        for (const [name, field] of this.#fields) {
            if (field.input.value !== "") values[name] = field.input.value;
            else if (this.isRetry) values[name] = null;
        }
        return values;
    }

    /** Shows problems at their fields; returns those of no field here. */
    showProblems(problems, below = "") {
        for (const field of this.#fields.values()) field.say("");
        return problems.filter(problem => {
            const field = this.#fields.get(fieldOf(problem.pointer, below));
            field?.say(problem.message);
            return !field;
        });
    }
}

export { fieldOf };
