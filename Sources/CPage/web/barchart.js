// `<bar-chart>`: bars over time, completed jobs and failed ones on top of them.
import { fill, svg } from "./dom.js";
import { texts } from "./texts.js";

const [height, top, bottom] = [180, 8, 22];

/** Joins the counts of hours, the latest first, to `count` periods, the earliest first. */
export function periods(hours, count) {
    const size = Math.max(1, Math.round(hours.length / count));
    const joined = [];
    for (let at = 0; at < hours.length; at += size) {
        const group = hours.slice(at, at + size);
        const counts = {};
        for (const name of Object.keys(texts.columns)) {
            if (name !== "start") counts[name] = group.reduce((sum, hour) => sum + hour.counts[name], 0);
        }
        joined.unshift({ start: group.at(-1).start, counts });
    }
    return joined;
}

/** A number that divides well, at least as large as another one. */
function ceiling(value) {
    const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
    return [1, 2, 4, 5, 10].map(step => step * power).find(step => step >= value);
}

class BarChart extends HTMLElement {
    connectedCallback() {
        this.observer = new ResizeObserver(() => this.draw());
        this.observer.observe(this);
    }

    disconnectedCallback() { this.observer.disconnect(); }

    draw() {
        const width = this.clientWidth;
        if (width === this.drawn || !width) return;
        this.drawn = width;
        const { bars } = this;
        const most = ceiling(Math.max(4, ...bars.map(bar => bar.counts.completed + bar.counts.failed)));
        const left = 12 + 8 * most.toLocaleString("en").length;
        const step = (width - left) / bars.length;
        const y = value => top + (height - bottom - top) * (1 - value / most);
        const lines = [0, 0.5, 1].map(share => [
            svg("line", { x1: left, x2: width, y1: y(share * most), y2: y(share * most), class: "grid" }),
            svg("text", { x: left - 8, y: y(share * most) + 4, class: "axis end" }, (share * most).toLocaleString("en")),
        ]);
        const every = Math.ceil(bars.length / (width / 80));
        const marks = bars.map((bar, index) => {
            const { completed, failed } = bar.counts;
            const [x, size] = [left + (index + 0.12) * step, step * 0.76];
            const time = new Date(bar.start);
            const text = this.withDays ? time.toLocaleDateString("sv").slice(5) : time.toLocaleTimeString("sv").slice(0, 5);
            return svg("g", {},
                svg("title", {}, texts.chartBar(time.toLocaleString("sv").slice(0, 16), bar.counts)),
                svg("rect", { x, y: 0, width: size, height: height - bottom, class: "hit" }),
                svg("rect", { x, y: y(completed), width: size, height: y(0) - y(completed), class: "completed" }),
                svg("rect", { x, y: y(completed + failed), width: size, height: y(0) - y(failed), class: "failed" }),
                index % every === 0 && x + 36 < width
                    ? svg("text", { x: x + size / 2, y: height - 5, class: "axis middle" }, text) : null);
        });
        fill(this, svg("svg", { width, height, role: "img", "aria-label": this.label }, lines, marks));
    }
}
customElements.define("bar-chart", BarChart);

/** A chart of periods; `withDays` writes dates below them. */
export function barChart(bars, label, { withDays }) {
    return Object.assign(document.createElement("bar-chart"), { bars, label, withDays });
}
