// Selects a range of a sound on its waveform, and hears it.
import { fill, h } from "./dom.js";
import * as format from "./format.js";
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
        this.audio?.pause();
        this.audio = this.range = undefined;
        fill(this.element);
    }

    /** Shows the waveform; `audio` plays the sound, if it can be heard. */
    show(pairs, duration, audio) {
        this.forget();
        const range = document.createElement("wave-range");
        range.setSound(pairs, duration);
        range.silences = silences(pairs, duration);
        range.addEventListener("range", () => this.onRange(
            range.start > 0 ? format.clock(range.start, 3) : "",
            range.end < range.duration ? format.clock(range.end, 3) : ""));
        this.range = range;
        this.tools = h("div", { class: "transport" });
        const snap = range.silences.length ? h("label", { class: "check", title: texts.snapHint }, h("input", { type: "checkbox",
            on: { change: event => { range.isSnapping = event.target.checked; } } }), " ", texts.snap) : null;
        fill(this.tools, snap);
        fill(this.element, h("h2", null, texts.waveTitle), range, this.tools);
        if (audio) this.hear(audio);
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
