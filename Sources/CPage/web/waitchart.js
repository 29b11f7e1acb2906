// `<wait-chart>`: how long jobs waited, over time: a line for half of them and one for 95 %.
import { svg } from "./dom.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { TimeChart } from "./timechart.js";

const words = texts.waits;

/** The figures of several hours: the means of theirs, by the number of jobs. */
export function mean(hours) {
    const all = hours.map(hour => hour.waiting).filter(Boolean);
    const count = all.reduce((sum, one) => sum + one.count, 0);
    const of = name => all.reduce((sum, one) => sum + one[name] * one.count, 0) / count;
    return { waiting: count ? { count, p50: of("p50"), p95: of("p95") } : null };
}

class WaitChart extends TimeChart {
    top() { return Math.max(0.01, ...this.periods.map(({ waiting }) => waiting?.p95 ?? 0)); }
    text(value) { return value === 0 ? "0" : format.span(value); }
    title(time, { waiting }) {
        return waiting ? words.point(time, format.span(waiting.p50), format.span(waiting.p95), waiting.count) : words.nothing(time);
    }

    /** The lines, which are interrupted where no job started. */
    over({ x, y }) {
        return ["p95", "p50"].map(name => {
            let path = "", isOn = false;
            this.periods.forEach(({ waiting }, index) => {
                if (waiting) path += `${isOn ? "L" : "M"}${x(index).toFixed(1)} ${y(waiting[name]).toFixed(1)}`;
                isOn = Boolean(waiting);
            });
            return svg("path", { d: path, class: `line ${name}` });
        });
    }

    mark({ waiting }, { middle, y }) {
        return waiting ? ["p95", "p50"].map(name => svg("circle", { cx: middle, cy: y(waiting[name]), r: 2.5, class: name })) : null;
    }
}
customElements.define("wait-chart", WaitChart);

/** A chart of periods; `withDays` writes dates below them. */
export function waitChart(periods, label, { withDays }) {
    return Object.assign(document.createElement("wait-chart"), { periods, label, withDays });
}
