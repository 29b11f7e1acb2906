// Reads the tags, pictures and chapters at the beginning of an Opus file, as previews carry them over from their sound.

const first = 1 << 16;
const most = 16 << 20;
const decoder = new TextDecoder();

/** A reader of little- and big-endian numbers and of bytes. */
class Bytes {
    at = 0;

    constructor(bytes) {
        this.bytes = bytes;
        this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }

    number(isLittle) {
        this.at += 4;
        return this.view.getUint32(this.at - 4, isLittle);
    }

    take(count) {
        if (this.at + count > this.bytes.length) throw new RangeError("cut off");
        this.at += count;
        return this.bytes.subarray(this.at - count, this.at);
    }

    text(count) { return decoder.decode(this.take(count)); }
}

function joined(parts) {
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
        whole.set(part, at);
        at += part.length;
    }
    return whole;
}

/** The second packet of an Ogg file, or `null` if it is not complete. */
function secondPacket(bytes) {
    const parts = [];
    let at = 0, packet = 0;
    while (at + 27 <= bytes.length) {
        if (decoder.decode(bytes.subarray(at, at + 4)) !== "OggS") return null;
        const sizes = bytes.subarray(at + 27, at + 27 + bytes[at + 26]);
        let place = at + 27 + bytes[at + 26];
        for (const size of sizes) {
            if (packet === 1) parts.push(bytes.subarray(place, place + size));
            place += size;
            if (place > bytes.length) return null;
            if (size === 255) continue;
            if (packet === 1) return joined(parts);
            packet++;
        }
        at = place;
    }
    return null;
}

/** A picture in the form of FLAC. */
function picture(text) {
    const reader = new Bytes(Uint8Array.from(atob(text), character => character.charCodeAt(0)));
    const kind = reader.number();
    const type = reader.text(reader.number());
    const description = reader.text(reader.number());
    const [width, height] = [reader.number(), reader.number()];
    reader.take(8);
    const bytes = reader.take(reader.number());
    // A blob of another type could be more than a picture.
    const isShown = /^image\/(png|jpeg|gif|webp|bmp)$/.test(type);
    return { kind, type, description, width, height, size: bytes.length, blob: isShown ? new Blob([bytes], { type }) : null };
}

/** The seconds of `01:02:03.500`. */
const seconds = text => text.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);

/** Sorts comments into tags, pictures and chapters. */
function sorted(comments) {
    const tags = new Map(), pictures = [], chapters = new Map();
    for (const comment of comments) {
        const at = comment.indexOf("=");
        const [name, value] = [comment.slice(0, at).toLowerCase(), comment.slice(at + 1)];
        const [, number, part] = /^chapter(\d{3,})(name|url)?$/.exec(name) ?? [];
        if (name === "metadata_block_picture") {
            try {
                pictures.push(picture(value));
            } catch { /* A broken picture is none. */ }
        } else if (number) {
            const chapter = chapters.get(number) ?? {};
            chapters.set(number, Object.assign(chapter, part ? { [part]: value } : { time: seconds(value) }));
        } else if (at > 0) {
            tags.set(name, [...tags.get(name) ?? [], value]);
        }
    }
    return { tags, pictures, chapters: [...chapters.values()].filter(({ time }) => Number.isFinite(time))
        .map(({ time, name }) => ({ time, title: name ?? "" })).sort((one, other) => one.time - other.time) };
}

/** The tags of a file whose URL `locate` returns: `{tags, pictures, chapters}`. */
export async function readTags(locate, signal) {
    for (let size = first; size <= most; size *= 16) {
        const response = await fetch(await locate(), { signal, cache: "no-store", headers: { Range: `bytes=0-${size - 1}` } });
        if (!response.ok) throw new Error(`${response.status}`);
        const bytes = new Uint8Array(await response.arrayBuffer());
        const packet = secondPacket(bytes);
        if (!packet && bytes.length >= size) continue;
        if (!packet || decoder.decode(packet.subarray(0, 8)) !== "OpusTags") break;
        const reader = new Bytes(packet);
        reader.take(8);
        reader.take(reader.number(true));
        return sorted(Array.from({ length: Math.min(reader.number(true), 10000) }, () => reader.text(reader.number(true))));
    }
    return sorted([]);
}
