// `<sound-lanes>`: waveforms or pictures of sounds, one below the other on one time axis, with one cursor.
import { fill, h } from "./dom.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { clippings, drawWave, silences } from "./wave.js";

class SoundLanes extends HTMLElement {
    duration = 1;
    #time = 0;
    #lanes = new Map();

    connectedCallback() {
        this.body = h("div", { class: "lanes" });
        this.shade = h("div", { class: "section", hidden: true });
        this.cursor = h("div", { class: "cursor", role: "slider", tabindex: "0", "aria-label": texts.compare.cursor,
            "aria-valuemin": "0" });
        this.ruler = h("div", { class: "ruler", "aria-hidden": "true" });
        this.strips = h("div");
        this.append(this.strips, h("div", { class: "stage" }, this.body, this.shade, this.cursor), this.ruler);
        this.observer = new ResizeObserver(() => this.draw());
        this.observer.observe(this);
        this.scheme = matchMedia("(prefers-color-scheme: dark)");
        this.redraw = () => this.draw();
        this.scheme.addEventListener("change", this.redraw);
        this.stage = this.body.parentNode;
        this.stage.addEventListener("pointerdown", event => this.point(event));
        this.cursor.addEventListener("keydown", event => {
            const size = event.shiftKey ? 5 : 1;
            const step = { ArrowLeft: -size, ArrowDown: -size, ArrowRight: size, ArrowUp: size, PageUp: 10, PageDown: -10,
                Home: -Infinity, End: Infinity }[event.key];
            if (step === undefined) return;
            event.preventDefault();
            this.seek(Math.max(0, Math.min(this.duration, this.#time + step)));
        });
    }

    disconnectedCallback() {
        this.observer.disconnect();
        this.scheme.removeEventListener("change", this.redraw);
    }

    /** Shows a lane; `content` has `pairs` or a `picture`, the seconds at which it begins and its `duration`. */
    put(name, title, content) {
        let lane = this.#lanes.get(name);
        if (!lane) {
            lane = { element: h("div", { class: `lane ${name}` }) };
            this.#lanes.set(name, lane);
            this.body.append(lane.element);
        }
        Object.assign(lane, { offset: 0, picture: null, pairs: null }, content);
        lane.canvas = lane.pairs ? h("canvas", { "aria-hidden": "true" }) : null;
        if (lane.pairs) {
            lane.silences = silences(lane.pairs, lane.duration);
            lane.clippings = clippings(lane.pairs, lane.duration);
        }
        fill(lane.element, h("span", { class: "name" }, title), lane.picture ?? lane.canvas ?? content.message);
        this.draw();
    }

    /** What was found in the waveforms: `{name: {silences, clippings}}`. */
    get found() {
        return Object.fromEntries([...this.#lanes].filter(([, lane]) => lane.pairs).map(([name, lane]) =>
            [name, { silences: lane.silences, clippings: lane.clippings }]));
    }

    set active(name) {
        for (const [one, { element }] of this.#lanes) element.classList.toggle("heard", one === name);
    }

    set time(seconds) {
        this.#time = seconds;
        this.cursor.style.left = `${(100 * Math.min(1, seconds / this.duration)).toFixed(3)}%`;
        // A screen reader that follows the cursor hears whole seconds.
        const value = seconds.toFixed(0);
        if (this.cursor.getAttribute("aria-valuenow") === value) return;
        this.cursor.setAttribute("aria-valuenow", value);
        this.cursor.setAttribute("aria-valuetext", format.clock(Math.round(seconds)));
    }

    set section(section) {
        this.shade.hidden = !section;
        if (!section) return;
        this.shade.style.left = `${(100 * section[0]) / this.duration}%`;
        this.shade.style.width = `${(100 * (section[1] - section[0])) / this.duration}%`;
    }

    /** Shows named parts above the lanes, such as chapters: `{time, title}`, each until the next one. */
    mark(label, marks) {
        const strip = h("div", { class: "strip", role: "group", "aria-label": label }, marks.map(({ time, title }, index) => {
            const end = Math.min(marks[index + 1]?.time ?? this.duration, this.duration);
            if (time >= this.duration || end <= 0) return null;
            const part = h("button", { type: "button", title, on: { click: () => this.seek(Math.max(0, time)) } }, title || index + 1);
            part.style.left = `${(100 * Math.max(0, time)) / this.duration}%`;
            part.style.width = `${(100 * (end - Math.max(0, time))) / this.duration}%`;
            return part;
        }));
        this.strips.append(strip);
    }

    seek(time) { this.dispatchEvent(new CustomEvent("seek", { detail: time })); }

    /** A click goes there, and a drag selects a section. */
    point(event) {
        if (event.button) return;
        event.preventDefault();
        const { stage } = this;
        const time = at => {
            const box = stage.getBoundingClientRect();
            return Math.max(0, Math.min(1, (at.clientX - box.left) / box.width)) * this.duration;
        };
        const first = time(event), place = event.clientX;
        let section = null;
        stage.setPointerCapture(event.pointerId);
        const drag = move => {
            if (!section && Math.abs(move.clientX - place) < 5) return;
            section = [Math.min(first, time(move)), Math.max(first, time(move))];
            this.section = section;
        };
        stage.addEventListener("pointermove", drag);
        stage.addEventListener("lostpointercapture", () => {
            stage.removeEventListener("pointermove", drag);
            if (section) this.dispatchEvent(new CustomEvent("section", { detail: section }));
            else this.seek(first);
        }, { once: true });
    }

    draw() {
        if (!this.isConnected) return;
        for (const lane of this.#lanes.values()) this.drawLane(lane);
        this.cursor.setAttribute("aria-valuemax", this.duration.toFixed(0));
        this.time = this.#time;
        const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];
        const step = steps.find(step => (step / this.duration) * this.clientWidth >= 70) ?? 28800;
        const marks = [];
        for (let at = 0; at <= this.duration * (1 - 24 / this.clientWidth); at += step) {
            const mark = h("span", null, format.clock(at, step < 1 ? 1 : 0));
            mark.style.left = `${(100 * at) / this.duration}%`;
            marks.push(mark);
        }
        fill(this.ruler, marks);
    }

    drawLane({ element, canvas, picture, pairs, offset, duration, silences, clippings }) {
        const share = seconds => (100 * seconds) / this.duration;
        if (picture) {
            picture.style.left = `${share(offset)}%`;
            picture.style.width = `${share(duration)}%`;
        }
        if (!canvas) return;
        const style = getComputedStyle(element), scale = devicePixelRatio;
        const [width, height] = [element.clientWidth, element.clientHeight];
        [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
        const pen = canvas.getContext("2d");
        pen.scale(scale, scale);
        const x = seconds => (seconds / this.duration) * width;
        const bar = ([from, to], top, size) => pen.fillRect(x(offset + from), top, Math.max(1.5, x(to - from)), size);
        pen.fillStyle = style.getPropertyValue("--range-color");
        for (const silence of silences) bar(silence, 0, height);
        pen.fillStyle = style.getPropertyValue("--wave");
        drawWave(pen, pairs, { left: x(offset), width: x(duration), top: 4, height: height - 8, within: width });
        pen.fillStyle = style.getPropertyValue("--clip");
        for (const clipping of clippings) bar(clipping, 0, 4);
    }
}
customElements.define("sound-lanes", SoundLanes);

export function soundLanes(duration) {
    return Object.assign(document.createElement("sound-lanes"), { duration });
}
