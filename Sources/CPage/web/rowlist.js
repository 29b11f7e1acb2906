// A list of any length of which only the visible rows are in the document.
import { fill, h } from "./dom.js";

const overscan = 8;

/** `<row-list>`: set `draw(item, row)` and `onEnd()`, then `items`, which have a unique `id`. */
class RowList extends HTMLElement {
    items = [];
    #rows = new Map();
    #isPlanned = false;
    active = -1;

    connectedCallback() {
        this.space = h("div", { class: "space", role: "list", "aria-label": this.label });
        this.append(this.space);
        this.tabIndex = 0;
        this.setAttribute("role", "region");
        this.setAttribute("aria-label", this.label);
        this.addEventListener("scroll", () => {
            this.place = this.scrollTop;
            this.plan();
        }, { passive: true });
        this.observer = new ResizeObserver(() => {
            this.height = undefined;
            this.plan();
        });
        this.observer.observe(this);
    }

    disconnectedCallback() { this.observer.disconnect(); }

    /** Shows other items; rows of known ids stay. */
    set(items) {
        const id = this.items[this.active]?.id;
        this.items = [...items];
        if (id) this.active = items.findIndex(item => item.id === id);
        for (const row of this.#rows.values()) row.item = undefined;
        this.plan();
    }

    /** Draws the row of an item again. */
    update(id) {
        const row = this.#rows.get(id);
        if (row) row.item = undefined;
        if (row) this.plan();
    }

    /** Draws the visible rows again. */
    updateAll() {
        for (const row of this.#rows.values()) row.item = undefined;
        this.plan();
    }

    isVisible(id) { return this.#rows.has(id); }

    /** Moves to an item by its index, and gives its link the focus. */
    move(index) {
        if (!this.items.length) return;
        this.active = Math.max(0, Math.min(this.items.length - 1, index));
        const height = this.rowHeight();
        const top = this.active * height;
        if (top < this.scrollTop) this.scrollTop = top;
        if (top + height > this.scrollTop + this.clientHeight) this.scrollTop = top + height - this.clientHeight;
        this.render();
        this.#rows.get(this.items[this.active].id)?.element.querySelector("a")?.focus({ preventScroll: true });
    }

    rowHeight() {
        this.height ??= parseFloat(getComputedStyle(this).getPropertyValue("--row-height")) || 36;
        return this.height;
    }

    plan() {
        if (this.#isPlanned) return;
        this.#isPlanned = true;
        requestAnimationFrame(() => {
            this.#isPlanned = false;
            if (this.isConnected) this.render();
        });
    }

    render() {
        const height = this.rowHeight();
        this.space.style.height = `${this.items.length * height}px`;
        const first = Math.max(0, Math.floor(this.scrollTop / height) - overscan);
        const last = Math.min(this.items.length, Math.ceil((this.scrollTop + this.clientHeight) / height) + overscan);
        const wanted = new Set();
        for (let index = first; index < last; index++) wanted.add(this.items[index].id);
        for (const [id, row] of this.#rows) {
            if (wanted.has(id)) continue;
            row.element.remove();
            this.#rows.delete(id);
        }
        let before = null;
        for (let index = last - 1; index >= first; index--) {
            const item = this.items[index];
            let row = this.#rows.get(item.id);
            if (!row) {
                row = { element: h("div", { class: "row", role: "listitem" }) };
                this.#rows.set(item.id, row);
            }
            // The order of the document is the order of the list, for the keyboard and for screen readers.
            if (row.element.parentNode !== this.space || row.element.nextSibling !== before) {
                this.space.insertBefore(row.element, before);
            }
            before = row.element;
            if (row.index !== index || row.size !== this.items.length) {
                row.element.style.transform = `translateY(${index * height}px)`;
                row.element.setAttribute("aria-posinset", index + 1);
                row.element.setAttribute("aria-setsize", this.items.length);
                row.index = index;
                row.size = this.items.length;
            }
            row.element.classList.toggle("active", index === this.active);
            if (row.item !== item) {
                fill(row.element, this.draw(item));
                row.item = item;
            }
        }
        if (last >= this.items.length - 50) this.onEnd?.();
    }
}
customElements.define("row-list", RowList);
