// Uploads a file in pieces by tus 1.0: a lost connection goes on where it ended.
import { base, connection, Disconnected, send } from "./api.js";

const pieceSize = 4 << 20;
const version = { "Tus-Resumable": "1.0.0" };

/** Base64 of the UTF-8 of a text. */
function encoded(text) {
    return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** Uploads a file and returns its id; `progress` gets the fraction. */
export async function upload(file, progress, signal) {
    const created = await send("POST", "v1/uploads", { signal, headers: {
        ...version, "Upload-Length": String(file.size), "Upload-Metadata": `filename ${encoded(file.name)}`,
    } });
    const place = new URL(created.headers.get("Location"), new URL("v1/uploads", base));
    const id = place.pathname.split("/").pop();
    const path = `v1/uploads/${id}`;
    let offset = 0;
    while (offset < file.size) {
        try {
            const response = await send("PATCH", path, { signal, body: file.slice(offset, offset + pieceSize), headers: {
                ...version, "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream",
            } });
            offset = Number(response.headers.get("Upload-Offset"));
        } catch (error) {
            if (signal.aborted || !(error instanceof Disconnected)) throw error;
            await returned(signal);
            offset = Number((await send("HEAD", path, { signal, headers: version })).headers.get("Upload-Offset"));
        }
        progress(file.size ? offset / file.size : 1);
    }
    return id;
}

/** Waits until the server is back. */
function returned(signal) {
    if (connection.state === "ok") return Promise.resolve();
    return new Promise((resolve, reject) => {
        connection.addEventListener("return", resolve, { once: true });
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
}
