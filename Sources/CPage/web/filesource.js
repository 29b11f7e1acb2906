// A file that is dropped: it is uploaded, and a range is selected on its waveform.
import { fill, h } from "./dom.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { upload } from "./upload.js";
import "./waverange.js";

/** A decoded file takes many times its size. */
const maxDrawn = 50e6;
const maxSeconds = 3600;
/** Enough for a waveform, and a sixth of the memory. */
const drawnRate = 8000;
const points = 2000;

/** The place for a file; `onSource` gets the source of an uploaded one, `onRange` the selected times. */
export class FileSource {
    constructor({ onSource, onRange }) {
        this.onSource = onSource;
        this.onRange = onRange;
        this.ending = new AbortController();
        const input = h("input", { type: "file", class: "offscreen", tabindex: "-1", "aria-label": texts.chooseFile,
            accept: "audio/*,video/*", on: { change: () => { if (input.files[0]) this.take(input.files[0]); } } });
        const button = h("button", { type: "button", on: { click: () => input.click() } }, texts.chooseFile);
        this.status = h("p", { role: "status", class: "muted" });
        this.wave = h("div");
        this.zone = h("div", { class: "drop", on: {
            dragover: event => {
                event.preventDefault();
                this.zone.classList.add("over");
            },
            dragleave: () => this.zone.classList.remove("over"),
            drop: event => {
                event.preventDefault();
                this.zone.classList.remove("over");
                if (event.dataTransfer.files[0]) this.take(event.dataTransfer.files[0]);
            },
        } }, h("p", null, texts.drop), button, input);
        this.element = h("div", null, this.zone, this.status, this.wave);
    }

    close() {
        this.ending.abort();
        this.forget();
    }

    forget() {
        this.audio?.pause();
        if (this.url) URL.revokeObjectURL(this.url);
        this.url = this.audio = this.range = undefined;
        fill(this.wave);
    }

    async take(file) {
        this.ending.abort();
        this.ending = new AbortController();
        const { signal } = this.ending;
        this.forget();
        this.draw(file, signal);
        try {
            this.status.classList.remove("problem");
            this.status.textContent = texts.uploading(file.name, format.percent(0));
            const id = await upload(file, share => {
                this.status.textContent = texts.uploading(file.name, format.percent(share));
            }, signal);
            this.status.textContent = texts.uploadDone(file.name);
            this.onSource(`upload:${id}`);
        } catch (error) {
            if (signal.aborted) return;
            this.status.classList.add("problem");
            this.status.textContent = error.message;
        }
    }

    /** Draws the waveform from the file itself; nothing waits for the upload. */
    async draw(file, signal) {
        const say = text => fill(this.wave, h("p", { class: "muted" }, text));
        if (file.size > maxDrawn) return say(texts.waveTooLarge);
        this.url = URL.createObjectURL(file);
        const audio = h("audio", { preload: "metadata", src: this.url });
        const isLoaded = await new Promise(resolve => {
            audio.addEventListener("loadedmetadata", () => resolve(true));
            audio.addEventListener("error", () => resolve(false));
        });
        if (signal.aborted) return undefined;
        if (isLoaded && audio.duration > maxSeconds) return say(texts.waveTooLarge);
        let sound;
        try {
            const context = new OfflineAudioContext(1, 1, drawnRate);
            sound = await context.decodeAudioData(await file.arrayBuffer());
        } catch {
            return signal.aborted ? undefined : say(texts.waveUnreadable);
        }
        if (signal.aborted) return undefined;
        this.audio = isLoaded ? audio : undefined;
        const range = document.createElement("wave-range");
        range.setSound(peaks(sound), sound.duration);
        range.addEventListener("range", () => this.onRange(
            range.start > 0 ? format.clock(range.start, 3) : "",
            range.end < range.duration ? format.clock(range.end, 3) : ""));
        this.range = range;
        fill(this.wave, h("h2", null, texts.waveTitle), range, this.audio ? this.player(audio, range) : null);
        return undefined;
    }

    player(audio, range) {
        const button = h("button", { type: "button", on: { click: () => {
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
        return button;
    }

    /** Shows a range that was typed. */
    mark(start, end) { this.range?.mark(Number.isFinite(start) ? start : 0, Number.isFinite(end) ? end : Infinity); }
}

/** The lowest and highest sample of each of some pieces, over all channels. */
function peaks(sound) {
    const channels = Array.from({ length: sound.numberOfChannels }, (_, index) => sound.getChannelData(index));
    const count = Math.min(points, sound.length);
    const pairs = new Float32Array(2 * count);
    for (let point = 0; point < count; point++) {
        const from = Math.floor((point * sound.length) / count);
        const to = Math.floor(((point + 1) * sound.length) / count);
        let low = 1, high = -1;
        for (const samples of channels) {
            for (let at = from; at < to; at++) {
                if (samples[at] < low) low = samples[at];
                if (samples[at] > high) high = samples[at];
            }
        }
        pairs[2 * point] = low;
        pairs[2 * point + 1] = high;
    }
    return pairs;
}
