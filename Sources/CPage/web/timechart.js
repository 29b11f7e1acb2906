// What charts over time share: their size, the lines and labels of both axes.
import { fill, svg } from "./dom.js";

const [height, top, bottom] = [180, 8, 22];

/** Joins the values of hours, the latest first, to `count` periods, the earliest first, each by `join`. */
export function periods(hours, count, join) {
    const size = Math.max(1, Math.round(hours.length / count));
    const joined = [];
    for (let at = 0; at < hours.length; at += size) {
        const group = hours.slice(at, at + size);
        joined.unshift({ start: group.at(-1).start, ...join(group) });
    }
    return joined;
}

/** A number that divides well, at least as large as another one. */
function ceiling(value) {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 3, 4, 6, 8, 10].map(step => step * power).find(step => step >= value * (1 - 1e-9));
}

/** A chart of periods; a kind of it has `top()`, `text(value)` of the axis, `mark(period, box)` and may have `over(box)`. */
export class TimeChart extends HTMLElement {
    connectedCallback() {
        this.observer = new ResizeObserver(() => this.draw());
        this.observer.observe(this);
    }

    disconnectedCallback() { this.observer.disconnect(); }

    draw() {
        const width = this.clientWidth;
        if (width === this.drawn || !width) return;
        this.drawn = width;
        const { periods } = this;
        const most = ceiling(this.top());
        const left = 12 + 7.5 * Math.max(...[0, most / 2, most].map(value => this.text(value).length));
        const step = (width - left) / periods.length;
        const y = value => top + (height - bottom - top) * (1 - value / most);
        const lines = [0, 0.5, 1].map(share => [
            svg("line", { x1: left, x2: width, y1: y(share * most), y2: y(share * most), class: "grid" }),
            svg("text", { x: left - 8, y: y(share * most) + 4, class: "axis end" }, this.text(share * most)),
        ]);
        const every = Math.ceil(periods.length / (width / 80));
        const marks = periods.map((period, index) => {
            const time = new Date(period.start);
            const text = this.withDays ? time.toLocaleDateString("sv").slice(5) : time.toLocaleTimeString("sv").slice(0, 5);
            const x = left + index * step;
            return svg("g", {},
                svg("title", {}, this.title(time.toLocaleString("sv").slice(0, 16), period)),
                svg("rect", { x: x + 0.12 * step, y: 0, width: 0.76 * step, height: height - bottom, class: "hit" }),
                this.mark(period, { x: x + 0.12 * step, width: 0.76 * step, middle: x + step / 2, y }),
                index % every === 0 && x + 36 < width
                    ? svg("text", { x: x + step / 2, y: height - 5, class: "axis middle" }, text) : null);
        });
        fill(this, svg("svg", { width, height, role: "img", "aria-label": this.label }, lines,
            this.over?.({ x: index => left + (index + 0.5) * step, y }), marks));
    }
}
