// The tags, pictures and chapters of a source and of a result, side by side.
import { h } from "./dom.js";
import * as format from "./format.js";
import { texts } from "./texts.js";
import { table } from "./view.js";

const words = texts.tags;
/** The encoder's own. */
const ignored = new Set(["encoder", "r128_track_gain", "r128_album_gain"]);

function picture(one, urls) {
    const text = words.picture(one.type, one.width, one.height, format.bytes(one.size));
    if (!one.blob) return h("p", null, text);
    const url = URL.createObjectURL(one.blob);
    urls.push(url);
    return h("figure", null, h("img", { src: url, alt: one.description || words.cover }), h("figcaption", { class: "muted" }, text));
}

/** Nodes for two sets of tags; `urls` gets those that are to be revoked. */
export function tagTable(before, after, urls) {
    const names = [...new Set([...before.tags.keys(), ...after.tags.keys()])].filter(name => !ignored.has(name)).sort();
    const cell = (one, name) => (one.tags.get(name) ?? []).map(value => h("div", { class: "wrap" }, value));
    const change = name => {
        const [old, now] = [before, after].map(one => JSON.stringify(one.tags.get(name) ?? null));
        const kind = old === now ? "same" : old === "null" ? "added" : now === "null" ? "removed" : "changed";
        return h("span", { class: `change ${kind}` }, words.changes[kind]);
    };
    const sides = [[words.before, before], [words.after, after]];
    const { chapters } = after.chapters.length >= before.chapters.length ? after : before;
    return [
        names.length ? table(words.title, [words.name, words.before, words.after, words.change], names.map(name =>
            [h("code", null, name), cell(before, name), cell(after, name), change(name)])) : h("p", { class: "empty" }, words.none),
        before.pictures.length + after.pictures.length ? h("div", { class: "pictures" }, sides.map(([title, side]) =>
            h("section", null, h("h3", null, words.pictures(title)),
                side.pictures.length ? side.pictures.map(one => picture(one, urls)) : h("p", { class: "empty" }, words.noPicture)))) : null,
        chapters.length ? table(words.chapters, [words.chapter, words.before, words.after], chapters.map((chapter, index) =>
            [chapter.title || index + 1, ...sides.map(([, side]) => format.clock(side.chapters[index]?.time, 3))])) : null,
    ];
}
