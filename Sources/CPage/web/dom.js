// Makes elements. Texts become text nodes only, so no value can become markup.

/** Makes an element: attributes, `on` with listeners, `data`, and children that are nodes, texts or lists of them. */
export function h(name, props, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(props ?? {})) {
        if (value === undefined || value === null || value === false) continue;
        if (key === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
        else if (key === "data") Object.assign(element.dataset, value);
        else if (key === "value" || key === "checked" || key === "disabled" || key === "selected") element[key] = value;
        else element.setAttribute(key, value === true ? "" : String(value));
    }
    element.append(...flat(children));
    return element;
}

/** The children that are there; numbers become texts. */
export function flat(children) {
    return children.flat(4).filter(child => child !== undefined && child !== null && child !== false)
        .map(child => (child instanceof Node ? child : String(child)));
}

/** Makes an element of SVG. */
export function svg(name, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...flat(children));
    return element;
}

/** Replaces the content of an element; the focus stays on the element with the same `data-key`. */
export function fill(element, ...children) {
    const key = element.contains(document.activeElement) ? document.activeElement.dataset?.key : undefined;
    const open = new Set([...element.querySelectorAll("details[open][data-key]")].map(details => details.dataset.key));
    element.replaceChildren(...flat(children));
    for (const details of element.querySelectorAll("details[data-key]")) {
        if (open.has(details.dataset.key)) details.open = true;
    }
    if (key) element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

/** Calls a function once, some time after the last call. */
export function debounce(milliseconds, action) {
    let timer;
    const later = (...values) => {
        clearTimeout(timer);
        timer = setTimeout(() => action(...values), milliseconds);
    };
    later.cancel = () => clearTimeout(timer);
    return later;
}

/** Calls a function at most once in a period: at its end if it was called meanwhile. */
export function throttle(milliseconds, action) {
    let timer = 0, last = -Infinity;
    return () => {
        if (timer) return;
        const wait = Math.max(0, last + milliseconds - performance.now());
        timer = setTimeout(() => {
            timer = 0;
            last = performance.now();
            action();
        }, wait);
    };
}

/** Waits some time, unless that is aborted. */
export function pause(milliseconds, signal) {
    return new Promise((resolve, reject) => {
        const end = () => {
            clearTimeout(timer);
            reject(signal.reason);
        };
        const timer = setTimeout(() => {
            signal.removeEventListener("abort", end);
            resolve();
        }, milliseconds);
        signal.addEventListener("abort", end, { once: true });
    });
}
