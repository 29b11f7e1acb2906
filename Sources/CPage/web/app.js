// The frame of the page: navigation, the token, the connection, keys.
import { connection, session, token } from "./api.js";
import { fill, h } from "./dom.js";
import { follow, restart } from "./events.js";
import { texts } from "./texts.js";
import { announce, announcements, openDialog, route, View } from "./view.js";

/** The modules of the views; each is read when it is needed first. */
const modules = {
    overview: () => import("./overview.js"),
    jobs: () => import("./jobs.js"),
    job: () => import("./job.js"),
    push: () => import("./push.js"),
    workers: () => import("./workers.js"),
    groups: () => import("./groups.js"),
    schedules: () => import("./schedules.js"),
    callbacks: () => import("./callbacks.js"),
    limits: () => import("./limits.js"),
    more: () => import("./lists.js"),
};

const main = h("main", { id: "main" });
const navigation = h("nav", { "aria-label": texts.menu });
const corner = h("div", { class: "corner" });
const bar = h("div", { class: "bar", role: "alert", hidden: true });
const keysName = "respool-keys";
const queueName = "respool-queue";
let version;

/** The view, the subject and the parameters of the address: `#/jobs?state=failed`. */
function address() {
    const [path, query = ""] = location.hash.slice(1).split("?");
    const [, view = "", subject = ""] = path.split("/");
    let name = subject;
    try {
        name = decodeURIComponent(subject);
    } catch { /* A bad address names what is not there. */ }
    return { view: view || "overview", subject: name, parameters: Object.fromEntries(new URLSearchParams(query)) };
}

/** Shows the view of the address. */
async function show() {
    const { view, subject, parameters } = address();
    const current = main.firstElementChild;
    drawNavigation(view);
    document.title = texts.title(subject || (texts.views[view] ?? view));
    if (current instanceof View && current.view === view && current.open && current.subject === subject) {
        current.open(parameters);
        return;
    }
    if (!Object.hasOwn(modules, view) || (view === "job" && !subject)) {
        fill(main, h("h1", { tabindex: "-1" }, texts.noSuchView), h("a", { href: route("overview") }, texts.views.overview));
        return;
    }
    const isFirst = !current;
    const { hash } = location;
    try {
        await modules[view]();
    } catch {
        if (location.hash !== hash) return;
        fill(main, h("p", { class: "problem" }, texts.noConnection), h("button", { type: "button",
            on: { click: () => location.reload() } }, texts.bars.reload));
        return;
    }
    // Another view may have been opened meanwhile.
    if (location.hash !== hash) return;
    const element = document.createElement(`${view}-view`);
    Object.assign(element, { subject, parameters });
    element.className = `view ${view}`;
    main.replaceChildren(element);
    if (isFirst) return;
    window.scrollTo(0, 0);
    if (!element.contains(document.activeElement)) element.heading?.focus({ preventScroll: true });
}

function drawNavigation(view) {
    const names = ["overview", "jobs", ...(session.mayPush() ? ["push"] : []), "workers", "groups", "schedules",
        "callbacks", "limits", "more"];
    const isMore = ["workers", "groups", "schedules", "callbacks", "limits"].includes(view);
    const signs = { overview: "◧", jobs: "☰", push: "+", more: "⚙" };
    fill(navigation, h("ul", null, names.map(name => h("li", { class: name in signs ? name : "rest" },
        h("a", {
            href: route(name), data: { key: name },
            "aria-current": name === view || (view === "job" && name === "jobs") ? "page"
                : name === "more" && isMore ? "true" : null,
        }, signs[name] ? h("span", { class: "sign", "aria-hidden": "true" }, signs[name]) : null, texts.views[name])))));
}

function drawCorner() {
    const { queues, name, role } = session.access;
    const choice = h("select", { "aria-label": texts.queue, on: { change: () => {
        session.queue = choice.value;
        sessionStorage.setItem(queueName, choice.value);
        restart(true);
        main.replaceChildren();
        show();
    } } }, queues.map(queue => h("option", { value: queue, selected: queue === session.queue }, queue)));
    fill(corner, queues.length > 1 ? choice : h("span", { class: "muted queue" }, `${texts.queue} ${session.queue}`),
        token.get() ? h("span", { class: "muted who" }, texts.signedIn(name, role)) : null,
        token.get() ? h("button", { type: "button", class: "small", on: { click: () => {
            token.set(null);
            location.reload();
        } } }, texts.signOut) : null,
        h("button", { type: "button", class: "small keys", on: { click: showKeys } }, texts.keysButton));
}

/** The dialog that asks for the token; nothing of the page is seen before. */
token.ask = async wasWrong => {
    const value = await openDialog(texts.tokenTitle, close => {
        const input = h("input", { type: "password", id: "token", autocomplete: "off", required: true,
            "aria-describedby": "token-hint" });
        return h("form", { on: { submit: event => {
            event.preventDefault();
            if (input.value.trim()) close(input.value.trim());
        } } },
        h("p", { class: wasWrong ? "problem" : "" }, texts.tokenNeeded(wasWrong)),
        h("div", { class: "field" }, h("label", { for: "token" }, texts.tokenLabel), input,
            h("small", { id: "token-hint" }, texts.tokenHint)),
        h("div", { class: "buttons" }, h("button", { class: "primary" }, texts.tokenOpen)));
    }, { isModal: true });
    token.set(value);
};

function drawBar() {
    const { state, since, next } = connection;
    document.body.classList.toggle("away", state !== "ok");
    bar.hidden = state === "ok";
    if (bar.hidden) return;
    const time = since.toLocaleTimeString("sv");
    const left = Math.max(0, Math.ceil((next - Date.now()) / 1000));
    if (bar.dataset.state !== state) {
        bar.dataset.state = state;
        fill(bar, h("span"), h("button", { type: "button", class: "small", on: { click: () => connection.check() } },
            texts.bars.now));
    }
    // The seconds are seen, and not said each time.
    bar.setAttribute("aria-live", "off");
    bar.firstElementChild.textContent = texts.bars[state](time, left);
}

connection.addEventListener("change", () => {
    drawBar();
    if (connection.state === "ok") delete bar.dataset.state;
    else announce(bar.textContent);
});
setInterval(() => { if (connection.state !== "ok") drawBar(); }, 500);

connection.addEventListener("return", async () => {
    announce(texts.bars.back);
    try {
        await session.open();
    } catch {
        return;
    }
    if (!version) return begin();
    if (session.access.version !== version) showNewVersion();
    main.firstElementChild?.reload?.();
});

function showNewVersion() {
    const hint = h("div", { class: "bar hint", role: "status" }, texts.bars.newVersion(session.access.version), " ",
        h("button", { type: "button", class: "small", on: { click: () => location.reload() } }, texts.bars.reload));
    document.querySelector(".hint")?.remove();
    bar.after(hint);
}

const areKeysOn = () => localStorage.getItem(keysName) !== "off";

function showKeys() {
    openDialog(texts.keysTitle, close => {
        const box = h("input", { type: "checkbox", checked: areKeysOn(), on: { change: () =>
            localStorage.setItem(keysName, box.checked ? "on" : "off") } });
        return [
            h("dl", { class: "keys" }, texts.keys.map(([key, what]) => h("div", null, h("dt", null, h("kbd", null, key)),
                h("dd", null, what)))),
            h("label", null, box, " ", texts.keysOn),
            h("div", { class: "buttons" }, h("button", { type: "button", class: "primary", on: { click: () => close() } },
                texts.close)),
        ];
    });
}

let afterG = -Infinity;

document.addEventListener("keydown", event => {
    const { target, key } = event;
    const isText = target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox])");
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const view = main.firstElementChild;
    if (isText) {
        if (key === "Escape") target.blur();
        return;
    }
    if (!areKeysOn()) return;
    const views = { o: "overview", j: "jobs", p: "push", w: "workers", s: "schedules" };
    let isUsed = true;
    if (performance.now() - afterG < 1500 && views[key]) location.hash = route(views[key]);
    else if (key === "g") isUsed = false;
    else if (key === "?") showKeys();
    else if (key === "/" && view?.search) view.search.focus();
    else if (key === "/") location.hash = route("jobs");
    else isUsed = view?.key?.(key, target) ?? false;
    afterG = key === "g" ? performance.now() : -Infinity;
    if (isUsed) event.preventDefault();
});

addEventListener("hashchange", show);

/** Begins once it is known what the token allows. */
async function begin() {
    try {
        await session.open();
    } catch (error) {
        // The bar says so, and it goes on when the server is back.
        if (connection.state === "ok") fill(main, h("p", { class: "problem" }, error.message));
        return;
    }
    version = session.access.version;
    drawCorner();
    follow();
    restart(true);
    await show();
    // The other views are there at once then, and also without the server.
    setTimeout(() => { for (const read of Object.values(modules)) read().catch(() => { /* It is tried again. */ }); }, 1000);
}

session.queue = sessionStorage.getItem(queueName) ?? "";
document.body.prepend(
    h("a", { class: "skip", href: "#main", on: { click: event => {
        event.preventDefault();
        main.querySelector("h1")?.focus();
    } } }, texts.skip),
    h("header", null, h("a", { class: "brand", href: route("overview") }, texts.product), navigation, corner),
    bar, main, ...announcements);
begin();
