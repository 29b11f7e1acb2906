// `<bar-chart>`: bars over time, completed jobs and failed ones on top of them.
import { svg } from "./dom.js";
import { texts } from "./texts.js";
import { TimeChart } from "./timechart.js";

/** The sums of the counts of hours. */
export function sum(hours) {
    const counts = {};
    for (const name of Object.keys(texts.columns)) {
        if (name !== "start") counts[name] = hours.reduce((sum, hour) => sum + hour.counts[name], 0);
    }
    return { counts };
}

class BarChart extends TimeChart {
    top() { return Math.max(4, ...this.periods.map(({ counts }) => counts.completed + counts.failed)); }
    text(value) { return value.toLocaleString("en"); }
    title(time, { counts }) { return texts.chartBar(time, counts); }

    mark({ counts: { completed, failed } }, { x, width, y }) {
        return [
            svg("rect", { x, y: y(completed), width, height: y(0) - y(completed), class: "completed" }),
            svg("rect", { x, y: y(completed + failed), width, height: y(0) - y(failed), class: "failed" }),
        ];
    }
}
customElements.define("bar-chart", BarChart);

/** A chart of periods; `withDays` writes dates below them. */
export function barChart(periods, label, { withDays }) {
    return Object.assign(document.createElement("bar-chart"), { periods, label, withDays });
}
