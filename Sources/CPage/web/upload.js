// Uploads a file in pieces by tus 1.0: what breaks goes on where it ended, also when the file is chosen again.
import { base, connection, Disconnected, send } from "./api.js";
import { pause } from "./dom.js";

const pieceSize = 4 << 20;
const version = { "Tus-Resumable": "1.0.0" };
/** Answers after which the server is asked how much it has: another offset, another request that appends, overload. */
const temporary = [409, 423, 429, 500, 503];
/** So many answers in a row without a byte more are final. */
const maxFailures = 8;
const storeName = "respool-uploads";

/** Base64 of the UTF-8 of a text. */
function encoded(text) {
    return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** The uploads of this tab that may go on, by file. */
const begun = {
    key: file => `${file.name} ${file.size} ${file.lastModified}`,
    all() {
        try {
            return JSON.parse(sessionStorage.getItem(storeName) ?? "{}");
        } catch {
            return {};
        }
    },
    get(file) { return this.all()[this.key(file)]; },
    set(file, id) { sessionStorage.setItem(storeName, JSON.stringify({ ...this.all(), [this.key(file)]: id })); },
};

async function create(file, signal) {
    const created = await send("POST", "v1/uploads", { signal, headers: {
        ...version, "Upload-Length": String(file.size), "Upload-Metadata": `filename ${encoded(file.name)}`,
    } });
    const place = new URL(created.headers.get("Location"), new URL("v1/uploads", base));
    const id = place.pathname.split("/").pop();
    begun.set(file, id);
    return { id, offset: 0 };
}

/** How many bytes the server has. */
async function offsetOf(id, signal) {
    return Number((await send("HEAD", `v1/uploads/${id}`, { signal, headers: version })).headers.get("Upload-Offset"));
}

/** An upload of the same file that can go on, or a new one. */
async function open(file, signal) {
    const id = begun.get(file);
    if (!id) return create(file, signal);
    try {
        return { id, offset: await offsetOf(id, signal) };
    } catch (error) {
        if (![404, 410].includes(error.status)) throw error;
        return create(file, signal);
    }
}

/** Uploads a file and returns its id; `progress` gets the fraction. */
export async function upload(file, progress, signal) {
    let id, offset = 0, failures = 0, isKnown = false;
    while (!isKnown || offset < file.size) {
        try {
            if (id === undefined) {
                ({ id, offset } = await open(file, signal));
            } else if (!isKnown) {
                const has = await offsetOf(id, signal);
                if (has > offset) failures = 0;
                offset = has;
            } else {
                const response = await send("PATCH", `v1/uploads/${id}`, { signal, body: file.slice(offset, offset + pieceSize),
                    headers: { ...version, "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream" } });
                offset = Number(response.headers.get("Upload-Offset"));
                failures = 0;
            }
            isKnown = true;
            progress(file.size ? offset / file.size : 1);
        } catch (error) {
            if (signal.aborted) throw error;
            isKnown = false;
            if (error instanceof Disconnected) {
                await connection.returned(signal);
            } else {
                if (!temporary.includes(error.status) || ++failures > maxFailures) throw error;
                await pause(1000 * (error.retryAfter ?? Math.min(5, 0.2 * 2 ** failures)), signal);
            }
        }
    }
    return id;
}
