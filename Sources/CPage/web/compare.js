// Compares the source's range (A) with a result (B) by ear and by eye: one player, one time axis, one cursor.
import { session } from "./api.js";
import { fill, h } from "./dom.js";
import * as format from "./format.js";
import { soundLanes } from "./lanes.js";
import { readTags } from "./opustags.js";
import { Playback } from "./playback.js";
import { isPlayable, loadedSound, ticket } from "./player.js";
import { previewFile, previewPeaks } from "./preview.js";
import { tagTable } from "./tagtable.js";
import { texts } from "./texts.js";
import { table } from "./view.js";

const words = texts.compare;
const sides = ["a", "b"];

/** The outputs that can be heard, with their numbers. */
export function heardOutputs(job) {
    return (job.outputs ?? []).map((output, index) => ({ output, index }))
        .filter(({ output }) => !output.error && output.bytes && !["peaks", "png"].includes(output.codec));
}

/** How a result lies on the axis of its source's range. */
function placed(output) {
    const tempo = Number(output.settings?.tempo?.effective) || 1;
    const [, first, last] = /^samples (\d+)\.\.<(\d+)$/.exec(output.settings?.trim_silence?.effective ?? "") ?? [];
    const rate = (last - first) / (output.duration * tempo);
    return { tempo, offset: rate > 0 ? first / rate : 0 };
}

export class Comparison {
    /** `signal` ends all that is read. */
    constructor(job, signal) {
        this.job = job;
        this.signal = signal;
        this.outputs = heardOutputs(job);
        this.chosen = this.outputs[0];
        this.body = h("div", { class: "body" }, h("p", { class: "muted" }, words.intro),
            h("button", { type: "button", class: "primary", data: { key: "compare" }, on: { click: () => this.begin() } },
                words.begin));
        this.choice = this.outputs.length > 1 ? h("select", { "aria-label": words.result, on: { change: () => {
            this.chosen = this.outputs[this.choice.selectedIndex];
            if (this.playback) this.begin();
        } } }, this.outputs.map(({ output, index }) => h("option", null, words.output(index, output.format)))) : null;
        this.element = h("section", { class: "card compare", "aria-label": words.title },
            h("div", { class: "line" }, h("h2", null, words.title), this.choice), this.body);
    }

    close() {
        this.ending?.abort();
        this.playback?.close();
        this.playback = undefined;
        for (const url of this.urls ?? []) URL.revokeObjectURL(url);
        this.urls = [];
    }

    /** Reads both sides and shows what is there as it comes. */
    begin() {
        this.close();
        this.ending = new AbortController();
        this.end = AbortSignal.any([this.signal, this.ending.signal]);
        const { output } = this.chosen;
        this.place = placed(output);
        this.playback = new Playback();
        this.playback.addEventListener("time", () => this.show());
        this.urls = [];
        this.tags = {};
        this.blind = { side: "", right: 0, total: 0 };
        this.problems = h("div", { role: "status" });
        this.found = h("p", { class: "muted legend-line" });
        this.stage = h("div");
        const known = this.job.duration ?? 0;
        this.duration = Math.max(known, this.place.offset + output.duration * this.place.tempo, 0.01);
        fill(this.body, this.controls(), this.stage, this.found, this.problems, this.loudness(output));
        this.see("wave");
        for (const side of sides) this.hear(side);
    }

    controls() {
        const { playback } = this;
        const { loudness } = this.chosen.output;
        const box = (name, text, hint) => h("label", { class: "check", title: hint }, h("input", { type: "checkbox",
            data: { key: name }, on: { change: event => { playback[name] = event.target.checked; } } }), " ", text);
        this.button = h("button", { type: "button", class: "primary round", disabled: true, data: { key: "play" },
            on: { click: () => playback.toggle() } });
        this.clock = h("span", { class: "clock" });
        this.buttons = Object.fromEntries(sides.map(side => [side, h("button", { type: "button", disabled: true,
            class: `side ${side}`, data: { key: side }, on: { click: () => this.choose(side) } },
        h("span", { class: "letter" }, side.toUpperCase()), " ", words.sides[side])]));
        this.buttons.x = h("button", { type: "button", disabled: true, class: "side x", title: words.blindHint, data: { key: "x" },
            on: { click: () => this.choose("x") } }, h("span", { class: "letter" }, "X"), " ", words.blind);
        this.guesses = h("span", { class: "muted", role: "status" });
        this.loop = box("looping", words.loop, words.loopHint);
        this.tabs = Object.fromEntries(Object.keys(words.kinds).map(kind => [kind, h("button", { type: "button",
            data: { key: kind }, on: { click: () => this.see(kind) } }, words.kinds[kind])]));
        return h("div", { class: "transport" }, this.button, this.clock,
            h("div", { class: "segments", role: "group", "aria-label": words.heard }, Object.values(this.buttons)),
            this.guesses,
            Number.isFinite(loudness?.before?.integrated) && Number.isFinite(loudness?.after?.integrated)
                ? box("matched", words.matched, words.matchedHint) : null,
            this.loop,
            h("div", { class: "segments tabs", role: "group", "aria-label": words.seen }, Object.values(this.tabs)));
    }

    /** Hears a side. X is one of both, and the side that is chosen next is the guess which one. */
    choose(name) {
        const { playback, blind } = this;
        if (this.buttons[name].disabled) return;
        if (name === "x") {
            blind.side = sides[crypto.getRandomValues(new Uint8Array(1))[0] % 2];
            playback.select(blind.side);
            this.guesses.textContent = words.guess;
        } else {
            if (blind.side) {
                blind.total++;
                blind.right += Number(blind.side === name);
                this.guesses.textContent = words.guessed(blind.side.toUpperCase(), blind.right, blind.total);
                blind.side = "";
            }
            playback.select(name);
        }
        this.show();
    }

    /** What a preview of a side is asked for with. */
    wish(side) {
        return side === "a" ? { job: this.job.id, of: "source" }
            : { job: this.job.id, of: "output", output: this.chosen.index };
    }

    /** How to find the preview of a side that can be heard, which also has its tags. */
    audioPreview(side) {
        this.previews ??= {};
        const key = side === "a" ? side : `b ${this.chosen.index}`;
        const { end } = this;
        this.previews[key] ??= previewFile({ ...this.wish(side), kind: "audio" }, { signal: this.signal }).catch(error => {
            delete this.previews[key];
            throw error;
        });
        return this.previews[key].then(locate => {
            end.throwIfAborted();
            return locate;
        });
    }

    async hear(side) {
        const { output, index } = this.chosen;
        const { playback, end } = this;
        try {
            const isDirect = side === "b" && session.access.downloads && isPlayable(output);
            const locate = isDirect ? () => ticket(this.job.id, index) : await this.audioPreview(side);
            const audio = await loadedSound(locate, end);
            end.throwIfAborted();
            playback.put(side, audio, {
                ...(side === "b" ? this.place : {}),
                level: (side === "a" ? output.loudness?.before : output.loudness?.after)?.integrated ?? null,
            });
            this.buttons[side].disabled = false;
            this.buttons.x.disabled = Object.keys(playback.sides).length < 2;
            this.button.disabled = false;
            // The button that was pressed is gone.
            if (document.activeElement === document.body) this.button.focus({ preventScroll: true });
            if (side === "a") this.tagsOf("a").then(({ chapters }) => this.markChapters(chapters)).catch(() => { /* None are shown. */ });
        } catch (error) {
            this.refuse(end, words.unheard(words.sides[side], error.message), () => this.hear(side));
        }
        this.show();
    }

    tagsOf(side) {
        const { end, tags } = this;
        tags[side] ??= this.audioPreview(side).then(locate => readTags(locate, end)).catch(error => {
            delete tags[side];
            throw error;
        });
        return tags[side];
    }

    markChapters(chapters) {
        this.chapters = chapters;
        if (chapters.length && this.kind !== "tags") this.lanes.mark(words.chapters, chapters);
    }

    /** Shows the tags of both sides instead of lanes. */
    async seeTags() {
        const place = h("div", { class: "tags" }, h("p", { class: "muted", role: "status" }, words.reading));
        fill(this.stage, place);
        const { end, urls } = this;
        try {
            const [before, after] = await Promise.all(sides.map(side => this.tagsOf(side)));
            if (!end.aborted) fill(place, tagTable(before, after, urls));
        } catch (error) {
            if (end.aborted) return;
            fill(place, h("p", { class: "problem" }, error.message, " "),
                h("button", { type: "button", class: "small", on: { click: () => this.seeTags() } }, texts.retryPart));
        }
    }

    refuse(end, text, again) {
        if (end.aborted) return;
        const line = h("p", { class: "problem" }, text, " ", h("button", { type: "button", class: "small", on: { click: () => {
            line.remove();
            again();
        } } }, texts.retryPart));
        this.problems.append(line);
    }

    /** Shows the waveforms or the spectrograms of both sides. */
    see(kind) {
        this.kind = kind;
        for (const [one, tab] of Object.entries(this.tabs)) tab.setAttribute("aria-pressed", String(one === kind));
        this.found.textContent = "";
        // The lanes keep the cursor while the tags are seen.
        this.lanes = soundLanes(this.duration);
        if (kind === "tags") return this.seeTags();
        this.lanes.dataset.kind = kind;
        this.lanes.addEventListener("seek", event => this.playback.seek(event.detail));
        this.lanes.addEventListener("section", event => this.mark(event.detail));
        fill(this.stage, this.lanes);
        if (this.chosen.output.titles?.length) {
            this.lanes.mark(words.titles, this.chosen.output.titles.map(({ time, title }) =>
                ({ time: this.place.offset + time * this.place.tempo, title })));
        }
        if (this.chapters) this.markChapters(this.chapters);
        this.lanes.section = this.playback.section;
        for (const side of sides) this.draw(side, kind, this.lanes);
        this.show();
        return undefined;
    }

    async draw(side, kind, lanes) {
        const { output } = this.chosen;
        const { end } = this;
        const wait = text => lanes.put(side, words.sides[side], { message: h("p", { class: "muted message" }, text) });
        const options = { signal: end, onState: job => wait(texts.states[job.state] ?? texts.states.waiting) };
        const place = duration => (side === "a" ? { offset: 0, duration }
            : { offset: this.place.offset, duration: output.duration * this.place.tempo });
        wait(texts.states.waiting);
        try {
            if (kind === "wave") {
                const { pairs, duration } = await previewPeaks({ ...this.wish(side), points: 2400 }, options);
                if (side === "a" && !this.job.duration) lanes.duration = this.duration = Math.max(this.duration, duration);
                lanes.put(side, words.sides[side], { ...place(this.job.duration ?? duration), pairs });
                this.tell(lanes);
            } else {
                const locate = await previewFile({ ...this.wish(side), kind }, options);
                const picture = h("img", { alt: words.pictureOf(words.sides[side]), src: await locate(), draggable: "false" });
                await picture.decode();
                lanes.put(side, words.sides[side], { ...place(this.job.duration ?? this.duration), picture });
            }
        } catch (error) {
            if (end.aborted) return;
            lanes.put(side, words.sides[side], { message: h("p", { class: "problem message" }, error.message, " ",
                h("button", { type: "button", class: "small", on: {
                    pointerdown: event => event.stopPropagation(), click: () => this.draw(side, kind, lanes),
                } }, texts.retryPart)) });
        }
    }

    /** Says what the waveforms show. */
    tell(lanes) {
        if (lanes !== this.lanes) return;
        fill(this.found, Object.entries(lanes.found).map(([side, { silences, clippings }]) =>
            h("span", null, h("strong", null, side.toUpperCase()), " ", words.found(silences.length, clippings.length))),
        h("span", { class: "hint-keys" }, words.keys));
    }

    loudness({ loudness }) {
        if (!loudness) return null;
        const { before, after } = loudness;
        const figure = (name, unit) => [words.figures[name],
            ...[before, after].map(one => format.level(one?.[name], unit))];
        return h("div", { class: "figures" }, table(words.loudness, [words.figure, words.sides.a, words.sides.b], [
            figure("integrated", "LUFS"), figure("range", "LU"), figure("true_peak", "dBTP"), figure("sample_peak", "dBFS"),
        ]), h("p", { class: "muted" }, words.gain(format.level(loudness.gain, "dB"))));
    }

    /** Loops a section, or all of it again. */
    mark(section) {
        this.playback.section = section;
        if (this.lanes.isConnected) this.lanes.section = section;
        this.loop.firstChild.checked = Boolean(section);
        this.playback.looping = Boolean(section);
        if (section) this.playback.seek(section[0]);
    }

    show() {
        const { playback } = this;
        if (!playback) return;
        const heard = this.blind.side ? "x" : playback.current;
        if (this.lanes.isConnected) {
            this.lanes.time = playback.time;
            this.lanes.active = heard;
        }
        this.clock.textContent = `${format.clock(playback.time, 3)} / ${format.clock(this.duration, 3)}`;
        const text = playback.isPlaying ? words.stop : words.play;
        if (this.button.textContent !== text) this.button.textContent = text;
        for (const [side, button] of Object.entries(this.buttons)) {
            button.setAttribute("aria-pressed", String(side === heard));
        }
        if (!this.loop.firstChild.checked && playback.section) this.mark(null);
    }

    /** The keys of the player; true if one was used. */
    key(key, target) {
        const { playback } = this;
        if (!playback) return false;
        if (key === " ") {
            // It presses a button that has the focus.
            if (target.matches("button, a, summary, [type=checkbox]")) return false;
            playback.toggle();
        } else if (key in this.buttons) {
            this.choose(key);
        } else if (key === "l") {
            this.loop.firstChild.click();
        } else if (key === "[" || key === "]") {
            const [start, end] = playback.section ?? [0, this.duration];
            const section = key === "[" ? [playback.time, end] : [start, playback.time];
            if (section[1] - section[0] >= 0.1) this.mark(section);
        } else {
            return false;
        }
        return true;
    }
}
