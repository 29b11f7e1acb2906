// Numbers, times and sizes as texts.
import { texts } from "./texts.js";

/** A duration in seconds as `1:02:03`, with thousandths if they are asked for. */
export function clock(seconds, digits = 0) {
    if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return texts.none;
    const factor = 10 ** digits;
    const units = Math.round(seconds * factor);
    const whole = Math.floor(units / factor);
    const fraction = digits ? "." + String(units % factor).padStart(digits, "0") : "";
    const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
    const two = value => String(value).padStart(2, "0");
    return (hours ? `${hours}:${two(minutes)}` : String(minutes)) + `:${two(rest)}${fraction}`;
}

/** A time span in words: `42 s`, `5 min`, `3 h`, `2 d`. */
export function span(seconds) {
    if (seconds === null || seconds === undefined) return texts.none;
    if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)} s`;
    if (seconds < 120) return `${Math.round(seconds)} s`;
    if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
    if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
    return `${Math.round(seconds / 86400)} d`;
}

/** How long ago an instant was. */
export function age(instant) {
    return instant ? span((Date.now() - Date.parse(instant)) / 1000) : texts.none;
}

/** An instant in the browser's zone. */
export function moment(instant) {
    if (!instant) return texts.none;
    const date = new Date(instant);
    const day = date.toDateString() === new Date().toDateString() ? "" : date.toLocaleDateString("sv") + " ";
    return day + date.toLocaleTimeString("sv");
}

export function bytes(count) {
    if (count === null || count === undefined) return texts.none;
    for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
        if (count >= size) return `${(count / size).toFixed(count >= 100 * size ? 0 : 1)} ${unit}`;
    }
    return `${count} B`;
}

export function number(value) {
    return value === null || value === undefined ? texts.none : value.toLocaleString("en");
}

/** Loudness with one decimal; silence has none. */
export function loudness(units) {
    return level(units, "LUFS");
}

/** A level with its unit and one decimal. */
export function level(value, unit) {
    return Number.isFinite(value) ? `${value.toFixed(1)} ${unit}` : texts.none;
}

export function percent(fraction, digits = 0) {
    return fraction === null || fraction === undefined ? texts.none : `${(100 * fraction).toFixed(digits)} %`;
}

/** The last part of a URL or a path. */
export function fileName(url) {
    if (!url) return texts.none;
    const path = url.replace(/\?….*$|[?#].*$/, "").replace(/\/+$/, "");
    return path.slice(path.lastIndexOf("/") + 1) || url;
}

/** Seconds of a text such as `300`, `5:00` or `1:02:03.5`; NaN if it is another one. */
export function seconds(text) {
    if (!/^\d+(:\d{1,2}){0,2}(\.\d+)?$/.test(text)) return NaN;
    return text.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);
}
