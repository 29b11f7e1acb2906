// Hears and downloads outputs, by tickets for one output each, because media elements and links send no token.
import { base, call, session } from "./api.js";
import { fill, h } from "./dom.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { actionButton, notify } from "./view.js";

/** What browsers play; Chromium plays none of alac, ac3, aiff, caf, mp2, wma and wv. */
const playable = new Set(["mp3", "m4a", "m4b", "mp4", "adts", "flac", "wav", "ogg", "opus", "oga", "webm", "mka"]);

/** A URL of an output that needs no token, for some minutes. */
async function ticket(job, index) {
    const path = `v1/jobs/${encodeURIComponent(job)}/outputs/${index}/ticket`;
    const { url } = await call("POST", path, { query: { queue: session.queue } });
    return new URL(url.replace(/^\/(?=v1\/)/, ""), base).href;
}

/** The buttons of an output, where the service stores it. */
export function listenLinks(job, output, index) {
    if (!session.access.downloads) return null;
    const place = h("div", { class: "player" });
    const name = format.fileName(output.url);
    const withTicket = action => async () => {
        try {
            action(await ticket(job, index));
        } catch (error) {
            notify(error.message);
        }
    };
    const listen = actionButton(texts.listen, withTicket(url => {
        const audio = h("audio", { controls: true, preload: "metadata", "aria-label": texts.playerOf(name), src: url });
        fill(place, audio);
        audio.play().catch(() => { /* The browser wants a click on the player. */ });
    }), { data: { action: "", key: `listen ${index}` } });
    const download = actionButton(texts.download, withTicket(url => {
        const link = h("a", { href: url, download: name });
        document.body.append(link);
        link.click();
        link.remove();
    }), { data: { action: "", key: `download ${index}` } });
    const isPlayable = playable.has(output.format) && output.codec !== "alac";
    return h("div", { class: "buttons" }, isPlayable ? listen : null, download, place);
}
