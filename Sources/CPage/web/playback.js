// Two sounds on one time axis, kept in step: both run, one is heard, and the other takes over in place without a gap.
import { release } from "./player.js";

const fade = 0.012;
const clamp = (value, limit) => Math.max(-limit, Math.min(limit, value));

/** A sound on the axis: at second 0 of it the axis is at `offset`, and it passes `tempo` seconds of the axis in each of its own. */
class Side {
    constructor(audio, gain, { offset, tempo, level }) {
        Object.assign(this, { audio, gain, offset, tempo, level });
    }

    get time() { return this.offset + this.audio.currentTime * this.tempo; }
    get end() { return this.offset + this.audio.duration * this.tempo; }

    has(time) { return time >= this.offset - 0.001 && time < this.end - 0.001; }

    seek(time) { this.audio.currentTime = Math.max(0, Math.min(this.audio.duration, (time - this.offset) / this.tempo)); }

    play() { return this.audio.play().catch(() => { /* The element tells of its errors. */ }); }
}

/** It sends `time` while it plays and after each change. */
export class Playback extends EventTarget {
    sides = {};
    current = "";
    isPlaying = false;
    isLooping = false;
    isMatched = false;
    /** The part that is looped, or `null` for all. */
    section = null;
    /** Counts the starts and stops. */
    #turn = 0;

    /** Adds a sound by its name; `level` is its loudness in LUFS, if that is known. */
    put(name, audio, { offset = 0, tempo = 1, level = null } = {}) {
        this.remove(name);
        this.context ??= new AudioContext();
        const gain = this.context.createGain();
        gain.gain.value = 0;
        this.context.createMediaElementSource(audio).connect(gain).connect(this.context.destination);
        const side = new Side(audio, gain, { offset, tempo, level });
        this.sides[name] = side;
        audio.addEventListener("ended", () => { if (this.sides[this.current] === side) this.#reachEnd(); });
        if (!this.current) this.select(name);
        else side.seek(this.time);
        this.#level();
        this.#tell();
    }

    remove(name) {
        const side = this.sides[name];
        if (!side) return;
        if (this.current === name) this.pause();
        release(side.audio);
        side.gain.disconnect();
        delete this.sides[name];
        if (this.current === name) this.current = Object.keys(this.sides)[0] ?? "";
        this.#level();
    }

    close() {
        for (const name of Object.keys(this.sides)) this.remove(name);
        this.context?.close();
    }

    get #leader() { return this.sides[this.current]; }
    get time() { return this.#leader?.time ?? 0; }
    get canMatch() {
        const levels = Object.values(this.sides).map(side => side.level);
        return levels.length > 1 && levels.every(Number.isFinite);
    }

    /** Where a loop begins and ends. */
    get #bounds() {
        const side = this.#leader;
        const [start, end] = this.isLooping && this.section ? this.section : [0, Infinity];
        return [Math.max(start, side.offset), Math.min(end, side.end)];
    }

    async play() {
        if (!this.#leader || this.isPlaying) return;
        this.isPlaying = true;
        const turn = ++this.#turn;
        await this.context.resume().catch(() => { /* It was closed. */ });
        if (turn !== this.#turn) return;
        const [start, end] = this.#bounds;
        if (this.time >= end - 0.02 || this.time < start - 0.02) this.seek(start);
        await this.#leader.play();
        if (turn !== this.#turn) return;
        this.#step();
        this.timer = setInterval(() => this.#step(), 100);
        this.#draw();
    }

    pause() {
        this.isPlaying = false;
        this.#turn++;
        clearInterval(this.timer);
        cancelAnimationFrame(this.frame);
        for (const side of Object.values(this.sides)) side.audio.pause();
        this.#tell();
    }

    toggle() { return this.isPlaying ? this.pause() : this.play(); }

    seek(time) {
        for (const side of Object.values(this.sides)) side.seek(time);
        this.#tell();
    }

    /** Hears another side from the same instant on. */
    select(name) {
        const side = this.sides[name];
        if (!side || name === this.current) return;
        const { time } = this;
        if (this.current && (!this.isPlaying || side.audio.paused || Math.abs(side.time - time) > 0.2)) side.seek(time);
        this.current = name;
        side.audio.playbackRate = 1;
        if (this.isPlaying && side.audio.paused) side.play();
        this.#level();
        this.#tell();
    }

    set matched(is) {
        this.isMatched = is;
        this.#level();
        this.#tell();
    }

    set looping(is) {
        this.isLooping = is;
        this.#tell();
    }

    /** Fades to the levels that are to be heard. The louder side is lowered to the other one. */
    #level() {
        if (!this.context) return;
        const now = this.context.currentTime;
        const softest = this.isMatched && this.canMatch
            ? Math.min(...Object.values(this.sides).map(side => side.level)) : null;
        for (const [name, { gain: { gain }, level }] of Object.entries(this.sides)) {
            const wanted = name !== this.current ? 0 : softest === null ? 1 : 10 ** ((softest - level) / 20);
            gain.cancelScheduledValues(now);
            gain.setValueAtTime(gain.value, now);
            gain.linearRampToValueAtTime(wanted, now + fade);
        }
    }

    /** Keeps the side that is not heard in step, by its pace or by a seek. */
    #step() {
        const leader = this.#leader;
        if (!leader || !this.isPlaying) return;
        const [start, end] = this.#bounds;
        const { time } = leader;
        if (this.isLooping && (time >= end || time < start - 0.1)) return this.seek(start);
        for (const side of Object.values(this.sides)) {
            if (side === leader) continue;
            if (!side.has(time)) {
                side.audio.pause();
                continue;
            }
            const lead = (side.time - time) / side.tempo;
            if (side.audio.paused || Math.abs(lead) > 0.2) side.seek(time);
            if (side.audio.paused) side.play();
            side.audio.playbackRate = leader.tempo / side.tempo * (Math.abs(lead) < 0.003 ? 1 : 1 - clamp(2 * lead, 0.2));
        }
    }

    #reachEnd() {
        if (!this.isPlaying) return;
        if (this.isLooping) {
            this.seek(this.#bounds[0]);
            this.#leader.play();
        } else {
            this.pause();
            this.dispatchEvent(new Event("end"));
        }
    }

    #draw() {
        if (!this.isPlaying) return;
        this.#tell();
        this.frame = requestAnimationFrame(() => this.#draw());
    }

    #tell() { this.dispatchEvent(new Event("time")); }
}
