// A file that is dropped: it is uploaded, and its waveform is drawn from the file itself where the browser can.
import { h } from "./dom.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { upload } from "./upload.js";

/** A decoded file takes many times its size. */
const maxDrawn = 50e6;
const maxSeconds = 3600;
/** Enough for a waveform, and a sixth of the memory. */
const drawnRate = 8000;
const points = 20000;

/**
 * The place for a file; `onTake` is told of one, `onSource` gets the source of an uploaded one, and whether its waveform was
 * drawn by `picker`.
 */
export class FileSource {
    constructor({ picker, onTake, onSource }) {
        this.picker = picker;
        this.onTake = onTake;
        this.onSource = onSource;
        this.ending = new AbortController();
        const input = h("input", { type: "file", class: "offscreen", tabindex: "-1", "aria-label": texts.chooseFile,
            accept: "audio/*,video/*", on: { change: () => { if (input.files[0]) this.take(input.files[0]); } } });
        const button = h("button", { type: "button", on: { click: () => input.click() } }, texts.chooseFile);
        this.status = h("p", { role: "status", class: "muted" });
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
        this.element = h("div", null, this.zone, this.status);
    }

    close() {
        this.ending.abort();
        this.forget();
    }

    forget() {
        if (this.url) URL.revokeObjectURL(this.url);
        this.url = undefined;
        this.picker.forget();
    }

    async take(file) {
        this.ending.abort();
        this.ending = new AbortController();
        const { signal } = this.ending;
        this.onTake();
        this.forget();
        const drawing = this.draw(file, signal);
        try {
            this.status.classList.remove("problem");
            this.status.textContent = texts.uploading(file.name, format.percent(0));
            const id = await upload(file, share => {
                this.status.textContent = texts.uploading(file.name, format.percent(share));
            }, signal);
            this.status.textContent = texts.uploadDone(file.name);
            this.onSource(`upload:${id}`, await drawing);
        } catch (error) {
            if (signal.aborted) return;
            this.status.classList.add("problem");
            this.status.textContent = error.message;
        }
    }

    /** Draws the waveform from the file itself, so nothing waits for the upload; returns why that cannot be. */
    async draw(file, signal) {
        const refuse = text => {
            if (!signal.aborted) this.picker.say(text);
            return text;
        };
        if (file.size > maxDrawn) return refuse(texts.waveTooLarge);
        this.url = URL.createObjectURL(file);
        const audio = h("audio", { preload: "metadata", src: this.url });
        const isLoaded = await new Promise(resolve => {
            audio.addEventListener("loadedmetadata", () => resolve(true));
            audio.addEventListener("error", () => resolve(false));
        });
        if (isLoaded && audio.duration > maxSeconds) return refuse(texts.waveTooLarge);
        let sound;
        try {
            const context = new OfflineAudioContext(1, 1, drawnRate);
            sound = await context.decodeAudioData(await file.arrayBuffer());
        } catch {
            return refuse(texts.waveUnreadable);
        }
        if (!signal.aborted) this.picker.show(peaks(sound), sound.duration, { audio: isLoaded ? audio : undefined });
        return "";
    }
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
