// What lists of few entries share, and what a small screen has under "More".
import { get, has, send, session } from "./api.js";
import { h } from "./dom.js";
import { texts } from "./texts.js";
import { actionButton, confirm, notify, Part, route, View } from "./view.js";

/** A view of one table, read again now and then; `change` is an operation that operators may use, if the server has it. */
export class ListView extends View {
    canChange = false;

    build() {
        this.shown = Part.make(null, () => get(`v1/${this.view}`, { queue: session.queue }, { signal: this.signal }),
            data => this.draw(data[this.view]));
        this.tools = h("div", { class: "buttons" });
        this.append(h("div", { class: "head" }, this.heading, this.tools),
            this.hint ? h("p", { class: "muted" }, this.hint) : "", this.shown);
        this.every(15000, () => this.shown.refresh());
        if (session.mayOperate() && this.change) {
            has(...this.change).then(answer => {
                this.canChange = answer;
                if (this.shown.data) this.shown.show(this.shown.data);
                if (answer) this.drawTools?.();
            });
        }
    }

    /** The address of an entry of the list. */
    path(name, action = "") { return `v1/${this.view}/${encodeURIComponent(name)}${action && `/${action}`}`; }

    /** A button of a row that sends a request, after a question if one is given. */
    rowButton(text, key, { method, path, question, done }) {
        return actionButton(text, async () => {
            if (question && !await confirm(question.title, question.hint, question.run)) return;
            try {
                const response = await send(method, path, { query: { queue: session.queue } });
                done?.(response.status === 204 ? null : await response.json());
            } catch (error) {
                notify(error.message);
            }
            this.shown.refresh();
        }, { class: "small", data: { action: "", key } });
    }
}

class More extends View {
    view = "more";

    build() {
        this.append(this.heading, h("ul", { class: "card plain-list" },
            ["workers", "groups", "schedules", "callbacks", "limits"].map(name => h("li", null,
                h("a", { href: route(name) }, texts.views[name])))));
    }
}
customElements.define("more-view", More);
