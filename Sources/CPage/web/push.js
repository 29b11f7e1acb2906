// The form that pushes a job: source, format, range, further fields, and the same as commands.
import { call, get, nonce, session } from "./api.js";
import { commands } from "./commands.js";
import { debounce, fill, h } from "./dom.js";
import { fieldOf, FieldsEditor, labelled, loadFormats } from "./fields.js";
import * as format from "./format.js";
import { FileSource } from "./filesource.js";
import { loadedSound } from "./player.js";
import { hasPreviews, previewFile, previewPeaks } from "./preview.js";
import { RangePicker } from "./rangepicker.js";
import { texts } from "./texts.js";
import { actionButton, announce, codeLines, route, View } from "./view.js";

const fixed = ["source", "format", "start", "end"];

class Push extends View {
    view = "push";

    build() {
        if (!session.mayPush()) {
            this.append(this.heading, h("p", { class: "empty" }, texts.noPush));
            return;
        }
        const changed = debounce(150, () => this.drawCommands());
        const input = (name, props = {}) => h("input", { name, autocomplete: "off", spellcheck: "false", ...props,
            on: { input: changed } });
        const source = input("source");
        // Its waveform is not that of another source.
        source.addEventListener("input", () => {
            this.hearing?.abort();
            this.picker.forget();
        });
        this.inputs = {
            source: labelled("source", texts.source, source, texts.sourceHint),
            format: labelled("format", texts.format, h("select", { name: "format", on: { change: changed } })),
            start: labelled("start", texts.start, input("start")),
            end: labelled("end", texts.end, input("end")),
        };
        this.length = h("p", { class: "muted" });
        this.editor = new FieldsEditor({ fixed, onChange: changed });
        this.problems = h("div", { class: "problems", role: "alert" });
        this.result = h("div", { role: "status" });
        this.lines = h("div", { class: "lines" });
        this.idempotencyKey = nonce();
        const presets = h("div", { class: "presets", role: "group", "aria-label": texts.presetsLabel },
            texts.presets.map(preset => h("button", { type: "button", class: "small", on: { click: () => this.preset(preset) } },
                preset.name)));
        this.picker = new RangePicker((start, end) => {
            this.inputs.start.input.value = start;
            this.inputs.end.input.value = end;
            changed();
        });
        this.file = session.access.uploads ? new FileSource({
            picker: this.picker,
            onTake: () => this.hearing?.abort(),
            onSource: (source, missing) => {
                this.set({ source });
                if (missing && hasPreviews()) this.hear();
            },
        }) : null;
        this.hearButton = hasPreviews() ? actionButton(texts.hear, () => this.hear(), { data: { action: "", key: "hear-source" } }) : null;
        this.submit = actionButton(texts.pushButton, () => {}, { class: "primary", type: "submit" });
        this.form = h("form", { novalidate: true, autocomplete: "off", on: { submit: event => {
            event.preventDefault();
            this.push();
        } } },
        h("section", { class: "card" }, this.file?.element,
            h("div", { class: "source-line" }, this.inputs.source.element, this.hearButton), this.picker.element,
            h("fieldset", null, h("legend", null, texts.range),
                h("div", { class: "pair" }, this.inputs.start.element, this.inputs.end.element),
                h("small", null, texts.rangeHint), this.length)),
        h("div", { class: "columns" },
            h("section", { class: "card" }, presets, this.inputs.format.element,
                h("h2", null, texts.moreFields), this.editor.element),
            h("section", { class: "card" }, h("h2", null, texts.equivalent), this.lines)),
        h("section", { class: "card" }, this.problems, h("div", { class: "buttons" }, this.submit), this.result));
        this.append(this.heading, h("p", { class: "muted" }, texts.pushIntro), this.form);
        this.onEnd(() => {
            this.file?.close();
            this.picker.forget();
        });
        this.load();
        this.drawCommands();
    }

    async load() {
        try {
            await loadFormats(this.inputs.format.input, this.wantedFormat ?? "");
        } catch (error) {
            fill(this.problems, h("p", { class: "problem" }, texts.partError, error.message));
        }
        await this.editor.ready;
        if (this.parameters.job) await this.copyOf(this.parameters.job);
        this.drawCommands();
    }

    /** The settings of another job; its range is to be entered anew. */
    async copyOf(id) {
        try {
            const { fields, hidden } = await get(`v1/jobs/${encodeURIComponent(id)}/fields`, { queue: session.queue },
                { signal: this.signal });
            delete fields.dedup;
            // A result with a fixed name would be replaced by that of the other range.
            if (fields.output && !fields.output.includes("{")) delete fields.output;
            this.set(fields);
            if (hidden.includes("source")) this.inputs.source.say(texts.hiddenSource);
            this.inputs.start.input.focus();
            this.inputs.start.input.select();
        } catch (error) {
            if (error.name !== "AbortError") fill(this.problems, h("p", { class: "problem" }, error.message));
        }
    }

    set(fields) {
        for (const [name, value] of Object.entries(fields)) {
            if (name === "format") this.wantedFormat = value;
            if (this.inputs[name]) this.inputs[name].input.value = value;
            else this.editor.add(name, value);
        }
        this.drawCommands();
    }

    preset(preset) {
        this.editor.clear();
        this.set(preset.fields);
        announce(preset.name);
    }

    values() {
        const values = {};
        for (const name of fixed) if (this.inputs[name].input.value.trim()) values[name] = this.inputs[name].input.value.trim();
        // A path is a file of the workers' machines.
        if (values.source?.startsWith("/")) {
            values.source = "file://" + encodeURI(values.source).replace(/[?#]/g, encodeURIComponent);
        }
        return { ...values, ...this.editor.values() };
    }

    drawCommands() {
        const values = this.values();
        const [start, end] = [format.seconds(values.start ?? "0"), format.seconds(values.end ?? "")];
        this.length.textContent = end > start ? texts.rangeLength(format.clock(end - start, 3)) : "";
        this.picker.mark(start, end);
        const lines = commands({ source: "https://example.org/talk.flac", format: "mp3", ...values });
        fill(this.lines, codeLines(lines));
    }

    /** Draws and plays any source by previews. */
    async hear() {
        const { source } = this.values();
        this.inputs.source.say(source ? "" : texts.sourceHint);
        if (!source) return this.inputs.source.input.focus();
        this.hearing?.abort();
        this.hearing = new AbortController();
        const signal = AbortSignal.any([this.signal, this.hearing.signal]);
        const options = { signal, onState: job => this.picker.say(texts.hearing(texts.states[job.state] ?? texts.states.waiting)) };
        this.picker.say(texts.hearing(texts.states.waiting));
        const sound = previewFile({ kind: "audio", source }, { signal }).then(locate => loadedSound(locate, signal));
        sound.catch(() => { /* It is said below. */ });
        try {
            const { pairs, duration } = await previewPeaks({ source, points: 4000 }, options);
            const refine = async (start, end) => (await previewPeaks(
                { source, points: 2000, start: start.toFixed(3), end: end.toFixed(3) }, { signal })).pairs;
            this.picker.show(pairs, duration, { refine });
            this.drawCommands();
            const audio = await sound;
            signal.throwIfAborted();
            this.picker.hear(audio);
        } catch (error) {
            if (signal.aborted) return undefined;
            const problem = error.errors?.find(one => fieldOf(one.pointer, "") === "source");
            if (problem) this.inputs.source.say(problem.message);
            if (this.picker.range) announce(error.message);
            else this.picker.say(error.message, true);
        }
        return undefined;
    }

    async push() {
        this.submit.disabled = true;
        fill(this.problems);
        fill(this.result);
        for (const field of Object.values(this.inputs)) field.say("");
        this.editor.showProblems([]);
        const body = this.values();
        const text = JSON.stringify(body);
        // The same job again is another job, but a repeated request is not.
        if (text !== this.sent) this.idempotencyKey = nonce();
        this.sent = text;
        try {
            const job = await call("POST", "v1/jobs", { query: { queue: session.queue }, body,
                headers: { "Idempotency-Key": `"${this.idempotencyKey}"` } });
            this.sent = undefined;
            const words = job.duplicate ? texts.duplicate(job.id) : texts.pushed(job.id);
            fill(this.result, h("p", null, words, " ", h("a", { href: route("job", {}, job.id) }, texts.openJob)));
        } catch (error) {
            this.showProblem(error);
        } finally {
            this.submit.disabled = false;
        }
    }

    showProblem(error) {
        const rest = this.editor.showProblems(error.errors ?? []).filter(problem => {
            const field = this.inputs[fieldOf(problem.pointer, "")];
            field?.say(problem.message);
            return !field;
        });
        const isShown = error.errors?.length && !rest.length;
        fill(this.problems, h("p", { class: "problem" }, isShown ? texts.problems : error.message));
        this.querySelector("[aria-invalid]")?.focus();
    }
}
customElements.define("push-view", Push);
