// Selects a range of a sound on its waveform, and hears it.
import { debounce, fill, h } from "./dom.js";
import * as format from "./format.js";
import { release } from "./player.js";
import { texts } from "./texts.js";
import { silences } from "./wave.js";
import "./waverange.js";

/** `onRange` gets the selected times as texts. */
export class RangePicker {
    constructor(onRange) {
        this.onRange = onRange;
        this.element = h("div");
    }

    /** Says why there is no waveform, or that one is being made. */
    say(text, isProblem = false) {
        this.forget();
        fill(this.element, h("p", { class: isProblem ? "problem" : "muted", role: "status" }, text));
    }

    forget() {
        if (this.audio) release(this.audio);
        this.audio = this.range = undefined;
        fill(this.element);
    }

    /**
     * Shows the waveform; `audio` plays the sound, if it can be heard, and `refine` returns exact pairs of a part that is
     * magnified.
     */
    show(pairs, duration, { audio, refine } = {}) {
        this.forget();
        const range = document.createElement("wave-range");
        range.setSound(pairs, duration);
        range.silences = silences(pairs, duration);
        range.addEventListener("range", () => this.onRange(
            range.start > 0 ? format.clock(range.start, 3) : "",
            range.end < range.duration ? format.clock(range.end, 3) : ""));
        this.range = range;
        range.addEventListener("view", debounce(400, () => this.refine(range, refine)));
        const zoom = (text, factor) => h("button", { type: "button", "aria-label": texts.zoom[text], title: texts.zoom[text],
            on: { click: () => range.zoom(factor) } }, texts.zoomSigns[text]);
        this.tools = h("div", { class: "transport" });
        const snap = range.silences.length ? h("label", { class: "check", title: texts.snapHint }, h("input", { type: "checkbox",
            on: { change: event => { range.isSnapping = event.target.checked; } } }), " ", texts.snap) : null;
        fill(this.tools, snap, h("div", { class: "segments tabs", role: "group", "aria-label": texts.zoom.label },
            zoom("out", 2), zoom("all", Infinity), zoom("in", 0.5)));
        fill(this.element, h("h2", null, texts.waveTitle), range, this.tools);
        if (audio) this.hear(audio);
    }

    /** Reads what is in view again where the waveform is too coarse. */
    async refine(range, read) {
        const { view } = range;
        if (!read || range !== this.range || range.density >= 0.8) return;
        try {
            const pairs = await read(...view);
            // What was read for an earlier view is of no use.
            if (range.view !== view) return;
            range.detail = { pairs, from: view[0], to: view[1] };
            range.draw();
        } catch { /* It stays coarse. */ }
    }

    /** Adds the button that plays the range. */
    hear(audio) {
        const { range } = this;
        this.audio = audio;
        const button = h("button", { type: "button", data: { key: "hear" }, on: { click: () => {
            if (!audio.paused) return audio.pause();
            audio.currentTime = range.start;
            return audio.play().catch(() => { /* The button says that it does not play. */ });
        } } }, texts.hearRange);
        audio.addEventListener("play", () => { button.textContent = texts.stopRange; });
        audio.addEventListener("pause", () => { button.textContent = texts.hearRange; });
        audio.addEventListener("timeupdate", () => {
            range.cursor = audio.currentTime;
            if (audio.currentTime >= range.end) audio.pause();
        });
        this.tools.prepend(button);
    }

    /** Shows a range that was typed. */
    mark(start, end) { this.range?.mark(Number.isFinite(start) ? start : 0, Number.isFinite(end) ? end : Infinity); }
}
