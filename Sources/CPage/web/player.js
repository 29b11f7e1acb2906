// Hears and downloads outputs, by tickets for one output each, because media elements and links send no token.
import { base, call, session } from "./api.js";
import { fill, h } from "./dom.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { actionButton, notify } from "./view.js";

/** What browsers play; Chromium plays none of alac, ac3, aiff, caf, mp2, wma and wv. */
const playable = new Set(["mp3", "m4a", "m4b", "mp4", "adts", "flac", "wav", "ogg", "opus", "oga", "webm", "mka"]);

export const isPlayable = output => playable.has(output.format) && output.codec !== "alac";

/** A URL of an output that needs no token, for some minutes. */
export async function ticket(job, index) {
    const path = `v1/jobs/${encodeURIComponent(job)}/outputs/${index}/ticket`;
    const { url } = await call("POST", path, { query: { queue: session.queue } });
    return new URL(url.replace(/^\/(?=v1\/)/, ""), base).href;
}

/** A sound whose URL `locate` returns; it asks again when the ticket has expired. */
export async function sound(locate, props = {}) {
    const audio = h("audio", { preload: "auto", ...props, src: await locate() });
    let renewed = -Infinity;
    audio.addEventListener("error", async () => {
        // A sound that fails at once again is broken.
        if (performance.now() - renewed < 60000 || !audio.hasAttribute("src") || !audio.duration) return;
        renewed = performance.now();
        const { currentTime, paused } = audio;
        try {
            const url = await locate();
            if (!audio.hasAttribute("src")) return;
            audio.src = url;
            audio.currentTime = currentTime;
            if (!paused) await audio.play();
        } catch (error) {
            notify(error.message);
        }
    });
    return audio;
}

/** Ends a sound and the reading of it. */
export function release(audio) {
    audio.pause();
    audio.removeAttribute("src");
    // Only this ends the transfer.
    audio.load();
}

/** A sound of which the duration is known; it is not part of the document, and `signal` releases it. */
export async function loadedSound(locate, signal) {
    const audio = await sound(locate);
    await new Promise((resolve, reject) => {
        const end = () => {
            release(audio);
            reject(signal.reason);
        };
        audio.addEventListener("loadedmetadata", resolve);
        audio.addEventListener("error", () => reject(new Error(texts.notPlayable)));
        if (signal.aborted) end();
        else signal.addEventListener("abort", end, { once: true });
    });
    return audio;
}

/** The buttons of an output, where the service stores it. */
export function listenLinks(job, output, index) {
    if (!session.access.downloads) return null;
    const place = h("div", { class: "player" });
    const name = format.fileName(output.url);
    const orNotice = action => () => action().catch(error => notify(error.message));
    const listen = actionButton(texts.listen, orNotice(async () => {
        const audio = await sound(() => ticket(job, index),
            { controls: true, preload: "metadata", "aria-label": texts.playerOf(name) });
        // The view may have been left meanwhile.
        if (!place.isConnected) {
            release(audio);
            return;
        }
        fill(place, audio);
        audio.play().catch(() => { /* The browser wants a click on the player. */ });
    }), { data: { action: "", key: `listen ${index}` } });
    const download = actionButton(texts.download, orNotice(async () => {
        const link = h("a", { href: await ticket(job, index), download: name });
        document.body.append(link);
        link.click();
        link.remove();
    }), { data: { action: "", key: `download ${index}` } });
    return h("div", { class: "buttons" }, isPlayable(output) ? listen : null, download, place);
}
