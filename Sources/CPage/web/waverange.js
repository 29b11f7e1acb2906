// `<wave-range>`: a waveform with two handles, for the mouse, for fingers and for the keyboard.
import { h } from "./dom.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { drawWave } from "./wave.js";

class WaveRange extends HTMLElement {
    start = 0;
    end = 0;
    /** Spans of silence, into whose middle a pointer snaps. */
    silences = [];
    isSnapping = false;
    #cursor = -1;

    /** Pairs of lowest and highest samples, and the duration in seconds. */
    setSound(pairs, duration) {
        Object.assign(this, { pairs, duration, end: duration });
    }

    connectedCallback() {
        this.className = "wave";
        this.canvas = h("canvas", { "aria-hidden": "true" });
        this.handles = { start: this.handle("start"), end: this.handle("end") };
        this.append(this.canvas, this.handles.start, this.handles.end);
        this.observer = new ResizeObserver(() => this.draw());
        this.observer.observe(this);
        this.scheme = matchMedia("(prefers-color-scheme: dark)");
        this.redraw = () => this.draw();
        this.scheme.addEventListener("change", this.redraw);
        this.canvas.addEventListener("pointerdown", event => this.select(event));
    }

    disconnectedCallback() {
        this.observer.disconnect();
        this.scheme.removeEventListener("change", this.redraw);
    }

    set cursor(seconds) {
        this.#cursor = seconds;
        this.draw();
    }

    handle(name) {
        const element = h("div", { class: "handle", role: "slider", tabindex: "0", "aria-label": texts.handle[name],
            "aria-valuemin": "0", "aria-valuemax": this.duration.toFixed(3) });
        element.addEventListener("keydown", event => {
            const size = event.shiftKey ? 1 : 0.01;
            const step = { ArrowLeft: -size, ArrowDown: -size, ArrowRight: size, ArrowUp: size, PageUp: 10, PageDown: -10,
                Home: -Infinity, End: Infinity }[event.key];
            if (step === undefined) return;
            event.preventDefault();
            this.move(name, this[name] + step);
        });
        element.addEventListener("pointerdown", event => {
            event.preventDefault();
            element.focus();
            element.setPointerCapture(event.pointerId);
            const drag = move => this.move(name, this.time(move));
            element.addEventListener("pointermove", drag);
            element.addEventListener("lostpointercapture", () => element.removeEventListener("pointermove", drag),
                { once: true });
        });
        return element;
    }

    /** A drag on the waveform selects anew. */
    select(event) {
        const first = this.time(event);
        this.canvas.setPointerCapture(event.pointerId);
        const drag = move => {
            const other = this.time(move);
            if (Math.abs(other - first) < this.duration / 500) return;
            this.mark(Math.min(first, other), Math.max(first, other));
            this.dispatchEvent(new Event("range"));
        };
        this.canvas.addEventListener("pointermove", drag);
        this.canvas.addEventListener("lostpointercapture", () => this.canvas.removeEventListener("pointermove", drag),
            { once: true });
    }

    /** The time below a pointer, or that of a silence near it. */
    time(event) {
        const box = this.getBoundingClientRect();
        const time = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * this.duration;
        if (!this.isSnapping) return time;
        const distance = ([start, end]) => Math.max(0, start - time, time - end);
        const near = this.silences.reduce((one, other) => (!one || distance(other) < distance(one) ? other : one), null);
        return near && distance(near) < (24 / box.width) * this.duration ? (near[0] + near[1]) / 2 : time;
    }

    move(name, seconds) {
        const value = Math.max(0, Math.min(this.duration, seconds));
        if (name === "start") this.start = Math.min(value, Math.max(0, this.end - 0.01));
        else this.end = Math.max(value, Math.min(this.duration, this.start + 0.01));
        this.draw();
        this.dispatchEvent(new Event("range"));
    }

    /** Shows a range that was chosen elsewhere. */
    mark(start, end) {
        this.start = Math.max(0, Math.min(start, this.duration));
        this.end = Math.max(this.start, Math.min(end, this.duration));
        this.draw();
    }

    draw() {
        if (!this.isConnected || !this.pairs) return;
        const style = getComputedStyle(this);
        const [width, height] = [this.clientWidth, this.clientHeight];
        const scale = devicePixelRatio;
        if (this.canvas.width !== width * scale) [this.canvas.width, this.canvas.height] = [width * scale, height * scale];
        const pen = this.canvas.getContext("2d");
        pen.setTransform(scale, 0, 0, scale, 0, 0);
        pen.clearRect(0, 0, width, height);
        const x = seconds => (seconds / this.duration) * width;
        pen.fillStyle = style.getPropertyValue("--range-color");
        pen.fillRect(x(this.start), 0, x(this.end) - x(this.start), height);
        pen.fillStyle = style.getPropertyValue("--wave");
        drawWave(pen, this.pairs, { left: 0, width, top: 0, height });
        if (this.#cursor >= 0) {
            pen.fillStyle = style.getPropertyValue("--handle");
            pen.fillRect(x(this.#cursor), 0, 1, height);
        }
        for (const [name, handle] of Object.entries(this.handles)) {
            handle.style.left = `${x(this[name])}px`;
            handle.setAttribute("aria-valuenow", this[name].toFixed(3));
            handle.setAttribute("aria-valuetext", format.clock(this[name], 3));
        }
    }
}
customElements.define("wave-range", WaveRange);
