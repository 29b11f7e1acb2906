// Callbacks: what was sent to whom, and what operators send again.
import { h } from "./dom.js";
import * as format from "./format.js";
import { ListView } from "./lists.js";
import { texts } from "./texts.js";
import { jobLink, notify, route, table } from "./view.js";

const words = texts.callback;
const signs = { delivered: ["completed", "✓"], failed: ["failed", "✗"], sending: ["running", "▶"], waiting: ["delayed", "◔"] };

class Callbacks extends ListView {
    view = "callbacks";
    change = ["POST", "/v1/callbacks/{callback}/retry"];

    draw(callbacks) {
        if (!callbacks.length) return h("p", { class: "empty" }, texts.callbacksEmpty);
        const columns = Object.values(words.columns);
        return table(texts.views.callbacks, this.canChange ? [...columns, words.actions] : columns, callbacks.map(callback => {
            const [kind, sign] = signs[callback.state] ?? ["", "·"];
            return [
                h("span", { class: `state ${kind}` }, h("span", { class: "sign", "aria-hidden": "true" }, sign), callback.state),
                callback.type,
                callback.job ? jobLink(callback.job, { data: { key: callback.id } })
                    : callback.group ? h("a", { href: route("groups", {}, callback.group) }, callback.group) : texts.none,
                h("span", { class: "wrap" }, callback.url), callback.attempt, format.moment(callback.created_at),
                format.moment(callback.due_at),
                callback.log.length ? h("ul", null, callback.log.map(entry => h("li", null, words.delivery(entry)))) : texts.none,
                ...(this.canChange ? [this.drawActions(callback)] : []),
            ];
        }));
    }

    drawActions({ id, state }) {
        return ["delivered", "failed"].includes(state) ? this.rowButton(words.retry, `retry ${id}`,
            { method: "POST", path: this.path(id, "retry"), done: () => notify(words.retried) }) : texts.none;
    }
}
customElements.define("callbacks-view", Callbacks);
