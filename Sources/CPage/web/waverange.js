// `<wave-range>`: a waveform with two handles, for the mouse, for fingers and for the keyboard. It can be magnified.
import { h } from "./dom.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { drawWave } from "./wave.js";

/** The shortest part that is shown. */
const least = 0.5;

class WaveRange extends HTMLElement {
    start = 0;
    end = 0;
    /** Spans of silence, into whose middle a pointer snaps. */
    silences = [];
    isSnapping = false;
    /** What is in view, and exact pairs of it. */
    view = [0, 0];
    detail = null;
    #cursor = -1;

    /** Pairs of lowest and highest samples, and the duration in seconds. */
    setSound(pairs, duration) {
        Object.assign(this, { pairs, duration, end: duration, view: [0, duration] });
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
        this.addEventListener("wheel", event => {
            // A pinch on a touchpad is one with Ctrl; without it, the page scrolls.
            if (!event.ctrlKey) return;
            event.preventDefault();
            this.zoom(Math.exp(event.deltaY / 200), this.time(event, false));
        }, { passive: false });
    }

    disconnectedCallback() {
        this.observer.disconnect();
        this.scheme.removeEventListener("change", this.redraw);
    }

    set cursor(seconds) {
        this.#cursor = seconds;
        this.draw();
    }

    /** How many pairs there are for each pixel in view. */
    get density() {
        const share = (this.view[1] - this.view[0]) / this.duration;
        return ((this.pairs.length / 2) * share) / Math.max(1, this.clientWidth);
    }

    /** Shows a part that is so many times as long, around an instant. */
    zoom(factor, around = this.start >= this.view[0] && this.start <= this.view[1] ? this.start : (this.view[0] + this.view[1]) / 2) {
        const [from, to] = this.view;
        const length = Math.max(Math.min(least, this.duration), Math.min(this.duration, (to - from) * factor));
        this.show(around - ((around - from) / (to - from)) * length, length);
    }

    /** Shows the part from an instant on. */
    show(from, length) {
        const start = Math.max(0, Math.min(this.duration - length, from));
        this.view = [start, start + length];
        this.draw();
        this.dispatchEvent(new Event("view"));
    }

    handle(name) {
        const element = h("div", { class: "handle", role: "slider", tabindex: "0", "aria-label": texts.handle[name],
            "aria-valuemin": "0", "aria-valuemax": this.duration.toFixed(3) });
        element.addEventListener("keydown", event => {
            const size = event.shiftKey ? 1 : 0.01;
            const step = { ArrowLeft: -size, ArrowDown: -size, ArrowRight: size, ArrowUp: size, PageUp: 10, PageDown: -10,
                Home: -Infinity, End: Infinity }[event.key];
            if (event.key === "+" || event.key === "-") this.zoom(event.key === "+" ? 0.5 : 2, this[name]);
            if (step === undefined) return;
            event.preventDefault();
            this.move(name, this[name] + step);
            this.reveal(this[name]);
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
            if (Math.abs(other - first) < (this.view[1] - this.view[0]) / 500) return;
            this.mark(Math.min(first, other), Math.max(first, other));
            this.dispatchEvent(new Event("range"));
        };
        this.canvas.addEventListener("pointermove", drag);
        this.canvas.addEventListener("lostpointercapture", () => this.canvas.removeEventListener("pointermove", drag),
            { once: true });
    }

    /** The time below a pointer, or that of a silence near it. */
    time(event, snaps = this.isSnapping) {
        const box = this.getBoundingClientRect();
        const length = this.view[1] - this.view[0];
        const time = this.view[0] + Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * length;
        if (!snaps) return time;
        const distance = ([start, end]) => Math.max(0, start - time, time - end);
        const near = this.silences.reduce((one, other) => (!one || distance(other) < distance(one) ? other : one), null);
        return near && distance(near) < (24 / box.width) * length ? (near[0] + near[1]) / 2 : time;
    }

    /** Moves the view to an instant that is not in it. */
    reveal(time) {
        const [from, to] = this.view;
        if (time < from || time > to) this.show(time - (to - from) / 2, to - from);
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
        const [from, to] = this.view;
        const x = seconds => ((seconds - from) / (to - from)) * width;
        pen.fillStyle = style.getPropertyValue("--range-color");
        pen.fillRect(x(this.start), 0, x(this.end) - x(this.start), height);
        pen.fillStyle = style.getPropertyValue("--wave");
        const { detail } = this;
        const isExact = detail && detail.from <= from && detail.to >= to;
        const shown = isExact ? detail : { pairs: this.pairs, from: 0, to: this.duration };
        drawWave(pen, shown.pairs, { left: x(shown.from), width: x(shown.to) - x(shown.from), top: 0, height, within: width });
        if (this.#cursor >= 0) {
            pen.fillStyle = style.getPropertyValue("--handle");
            pen.fillRect(x(this.#cursor), 0, 1, height);
        }
        for (const [name, handle] of Object.entries(this.handles)) {
            handle.style.left = `${Math.max(0, Math.min(width, x(this[name])))}px`;
            handle.classList.toggle("outside", this[name] < from || this[name] > to);
            handle.setAttribute("aria-valuenow", this[name].toFixed(3));
            handle.setAttribute("aria-valuetext", format.clock(this[name], 3));
        }
    }
}
customElements.define("wave-range", WaveRange);
