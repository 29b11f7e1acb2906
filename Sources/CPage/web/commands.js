// The same push as lines for a shell, Redis, Python and curl.
import { base, session, token } from "./api.js";

/** A text as one word of a shell. */
function word(text) {
    return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const python = text => JSON.stringify(text).replace(/[\u007f-\uffff]/g,
    character => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0"));

/** The lines for a job's fields, whose values are texts. Only the API takes uploads. */
export function commands(fields) {
    const { source = "", ...others } = fields;
    const entries = Object.entries(others);
    const key = `respool:{${session.queue}}:in`;
    const all = Object.entries(fields);
    const isDefault = session.queue === "default";
    const curl = ["curl", token.get() ? '-H "Authorization: Bearer $TOKEN"' : "", "-H 'Content-Type: application/json'",
        "-d", `'${JSON.stringify(fields).replaceAll("'", "'\\''")}'`,
        word(new URL(`v1/jobs?queue=${encodeURIComponent(session.queue)}`, base).href)].filter(Boolean).join(" ");
    if (source.startsWith("upload:")) return { curl };
    return {
        shell: ["respool enqueue", source.startsWith("-") ? "--" : "", word(source),
            isDefault ? "" : `--queue ${word(session.queue)}`,
            ...entries.map(([name, value]) => `--${word(name.replaceAll("_", "-"))}${value.startsWith("-") ? "=" : " "}${word(value)}`)]
            .filter(Boolean).join(" "),
        redis: `redis-cli XADD ${word(key)} '*' ` + all.map(([name, value]) => `${word(name)} ${word(value)}`).join(" "),
        python: `redis.Redis().xadd(${python(key)}, {`
            + all.map(([name, value]) => `${python(name)}: ${python(value)}`).join(", ") + "})",
        curl,
    };
}
