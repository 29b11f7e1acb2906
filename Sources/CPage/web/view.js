// What all views share: their life, parts that are read and shown on their own, and dialogs.
import { connection, session } from "./api.js";
import { fill, flat, h } from "./dom.js";
import { listen } from "./events.js";
import { texts } from "./texts.js";

/** The state of a job with its sign, so that it is never colour alone. */
export const signs = {
    queued: "○", waiting: "○", delayed: "◔", running: "▶", completed: "✓", failed: "✗", cancelled: "–",
};

/** The final states. */
export const ends = ["completed", "failed", "cancelled"];

export function stateLabel(state) {
    return h("span", { class: `state ${state}` },
        h("span", { class: "sign", "aria-hidden": "true" }, signs[state] ?? "·"), texts.states[state] ?? state);
}

/** The address of a view, with parameters that are not empty. */
export function route(view, parameters = {}, id = "") {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value);
    return `#/${view}${id ? "/" + encodeURIComponent(id) : ""}${query.size ? "?" + query : ""}`;
}

export function jobLink(id, props = {}) {
    return h("a", { href: route("job", {}, id), class: "mono", ...props }, id);
}

/** A button that changes something; it cannot be used while the server is away. */
export function actionButton(text, action, props = {}) {
    return h("button", {
        type: "button", data: { action: "" }, disabled: connection.state !== "ok", ...props, on: { click: action },
    }, text);
}

connection.addEventListener("change", () => {
    for (const button of document.querySelectorAll("[data-action]")) button.disabled = connection.state !== "ok";
});

/** A view: it is made when it is opened, and ends its reading when it is left. */
export class View extends HTMLElement {
    #ends = [];

    connectedCallback() {
        this.ending = new AbortController();
        this.heading = h("h1", { tabindex: "-1" }, this.name);
        this.onEnd(listen(events => this.take?.(events)));
        this.build();
    }

    disconnectedCallback() {
        this.ending.abort();
        for (const end of this.#ends) end();
    }

    get signal() { return this.ending.signal; }
    get name() { return texts.views[this.view]; }

    onEnd(action) { this.#ends.push(action); }

    /** Calls a function again and again while the tab is seen and the server is there. */
    every(milliseconds, action) {
        const timer = setInterval(() => {
            if (!document.hidden && connection.state === "ok") action();
        }, milliseconds);
        this.onEnd(() => clearInterval(timer));
    }

    /** Reads again all that is shown. */
    reload() { for (const part of this.querySelectorAll("page-part")) part.refresh(); }
}

/** A part of a view: reads its data and draws it; says why if it cannot, while the others stay. */
export class Part extends HTMLElement {
    /** `load` returns the data, `draw` the nodes for it. */
    static make(title, load, draw, props = {}) {
        const part = h("page-part", { class: "card", ...props });
        part.load = load;
        part.draw = draw;
        part.body = h("div", { class: "body" });
        part.append(...(title ? [h("h2", null, title)] : []), part.body);
        return part;
    }

    connectedCallback() { if (!this.isStarted) this.refresh(); }

    async refresh() {
        this.isStarted = true;
        const number = this.number = (this.number ?? 0) + 1;
        const skeleton = setTimeout(() => {
            if (!this.isFilled) fill(this.body, h("div", { class: "skeleton", "aria-hidden": "true" }));
        }, 300);
        try {
            const data = await this.load();
            if (number === this.number && this.isConnected) this.show(data);
        } catch (error) {
            if (error.name === "AbortError" || number !== this.number) return;
            // What was read stays while the server is away.
            if (connection.state !== "ok" && this.isFilled) return;
            this.isFilled = false;
            const gone = this.explain?.(error);
            fill(this.body, h("p", { class: gone ? "empty" : "problem" }, gone ?? [texts.partError, error.message]),
                h("button", { type: "button", on: { click: () => this.refresh() } }, texts.retryPart));
        } finally {
            clearTimeout(skeleton);
        }
    }

    show(data) {
        // What has not changed stays as it is, such as a player.
        const text = this.isStable && JSON.stringify(data);
        if (text && this.isFilled && text === this.text) return;
        this.text = text;
        this.isFilled = true;
        this.data = data;
        fill(this.body, this.draw(data));
    }
}
customElements.define("page-part", Part);

/** A table with a head; `rows` are lists of cells. Wide ones scroll in themselves. */
export function table(label, columns, rows) {
    return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
        h("table", null,
            h("thead", null, h("tr", null, columns.map(column => h("th", { scope: "col" }, column)))),
            h("tbody", null, rows.map(cells => h("tr", null,
                cells.map((cell, index) => h("td", { "data-label": columns[index] }, cell)))))));
}

/** Names and values, without those that do not apply; long ones have a line of their own. */
export function pairs(entries) {
    return h("dl", null, entries.filter(([, value]) => value !== null && value !== undefined && value !== texts.none)
        .map(([name, value, isLong]) => h("div", { class: isLong ? "long" : null }, h("dt", null, name), h("dd", null, value))));
}

/** A line that can be copied. */
export function codeLine(text, label = texts.copy, key = "copy") {
    return h("div", { class: "code" },
        h("pre", { tabindex: "0", role: "group", "aria-label": label }, h("code", null, text)),
        h("button", { type: "button", class: "small", "aria-label": label, data: { key },
            on: { click: event => copy(text, event.target) } }, texts.copy));
}

/** Lines of several languages, with their names. */
export function codeLines(lines) {
    return Object.entries(texts.languages).filter(([name]) => lines[name]).map(([name, title]) =>
        [h("h3", null, title), codeLine(lines[name], texts.copyOf(title), name)]);
}

/** Copies a text, also where the page has no TLS and the browser therefore no clipboard. */
async function copy(text, button) {
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        const area = h("textarea", { class: "offscreen", "aria-hidden": "true", value: text });
        (document.querySelector("dialog[open]") ?? document.body).append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
        button.focus();
    }
    button.textContent = texts.copied;
    announce(texts.copied);
    setTimeout(() => { button.textContent = texts.copy; }, 1500);
}

const region = h("div", { class: "offscreen", role: "status", "aria-live": "polite" });
const notice = h("div", { class: "notice", role: "status", hidden: true });
let noticeTimer;

/** The element with what is said to screen readers, and the one with short notices. */
export const announcements = [region, notice];

export function announce(text) { region.textContent = text; }

/** Shows a notice for some seconds. */
export function notify(...children) {
    notice.hidden = false;
    fill(notice, children);
    clearTimeout(noticeTimer);
    noticeTimer = setTimeout(() => { notice.hidden = true; }, 8000);
}

/** Opens a dialog; `build` gets a function that closes it with a value, which is the result. */
export function openDialog(title, build, { isModal = false } = {}) {
    return new Promise(resolve => {
        const opener = document.activeElement;
        const dialog = h("dialog", { "aria-labelledby": "dialog-title" });
        let result;
        const close = value => {
            result = value;
            dialog.close();
        };
        dialog.append(h("h2", { id: "dialog-title" }, title), ...flat([build(close)]));
        dialog.addEventListener("cancel", event => { if (isModal) event.preventDefault(); });
        dialog.addEventListener("close", () => {
            dialog.remove();
            // The row of the opener may have been drawn again.
            const key = opener?.dataset?.key;
            const again = opener?.isConnected ? opener : key && document.querySelector(`[data-key="${CSS.escape(key)}"]`);
            again?.focus?.();
            resolve(result);
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}

/** Asks before something is done. */
export function confirm(title, hint, run) {
    return openDialog(title, close => [
        h("p", null, hint),
        h("div", { class: "buttons" },
            h("button", { type: "button", on: { click: () => close(false) } }, texts.cancel),
            actionButton(run, () => close(true), { class: "primary", autofocus: true })),
    ]);
}

/** Whether the token may change jobs. */
export const mayOperate = () => session.mayOperate();
