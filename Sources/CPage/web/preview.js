// Previews: what a browser cannot play or draw by itself is made by a job of the workers, and kept for an hour.
import { call, get, session } from "./api.js";
import { pause } from "./dom.js";
import { ticket } from "./player.js";
import { texts } from "./texts.js";
import { ends } from "./view.js";
import { readPeaks } from "./wave.js";

/** Whether the server makes previews for this token. */
export const hasPreviews = () => Boolean(session.access.previews) && session.mayPush();

/** Asks for a preview and returns its job when it is complete; `onState` gets the job meanwhile. */
export async function makePreview(wish, { signal, onState = () => {} }) {
    const query = { queue: session.queue };
    let job = await call("POST", "v1/previews", { query, body: wish, signal });
    for (let wait = 60; !ends.includes(job.state); wait = Math.min(1000, 1.3 * wait)) {
        onState(job);
        await pause(wait, signal);
        job = await get(`v1/jobs/${encodeURIComponent(job.id)}`, query, { signal });
    }
    if (job.state !== "completed") throw new Error(job.error?.message ?? texts.preview.cancelled);
    return job;
}

/** The peaks of a sound. */
export async function previewPeaks(wish, options) {
    const job = await makePreview({ ...wish, kind: "peaks" }, options);
    const peaks = readPeaks(await get(`v1/jobs/${encodeURIComponent(job.id)}/outputs/0`, { queue: session.queue },
        { signal: options.signal }));
    return { ...peaks, duration: Math.min(peaks.duration, job.duration ?? Infinity) };
}

/** How to find a sound that the browser plays, or a picture: a function that returns a URL, made anew when it has expired. */
export async function previewFile(wish, options) {
    let job = await makePreview(wish, options);
    return async () => {
        try {
            return await ticket(job.id, 0);
        } catch (error) {
            if (![404, 410].includes(error.status)) throw error;
            job = await makePreview(wish, options);
            return ticket(job.id, 0);
        }
    };
}
