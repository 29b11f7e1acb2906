// Peaks of sound: read from a file of the format `peaks`, drawn on a canvas, and searched for silence and clipping.

/** The pairs of lowest and highest samples, from -1 to 1, of a file of peaks with one lane, and its seconds. */
export function readPeaks({ data, bits, sample_rate: rate, samples_per_pixel: zoom, length }) {
    const full = 2 ** (bits - 1);
    return { pairs: Float32Array.from(data, value => value / full), duration: (length * zoom) / rate };
}

/** Draws pairs into a box, one column of pixels after the other, as far as it lies within the width of the canvas. */
export function drawWave(pen, pairs, { left, width, top, height, within = Infinity }) {
    const count = pairs.length / 2;
    const middle = top + height / 2;
    const last = Math.min(width, within - left);
    for (let column = Math.max(0, Math.floor(-left)); column < last; column++) {
        const from = Math.floor((column * count) / width), to = Math.max(from + 1, Math.floor(((column + 1) * count) / width));
        let low = 0, high = 0;
        for (let point = from; point < to && point < count; point++) {
            low = Math.min(low, pairs[2 * point]);
            high = Math.max(high, pairs[2 * point + 1]);
        }
        pen.fillRect(left + column, middle - (height / 2) * high, 1, Math.max(1, (height / 2) * (high - low)));
    }
}

/** The spans in which each pair fulfils a condition for some seconds at least, as `[start, end]`. */
function spans(pairs, duration, seconds, condition) {
    const count = pairs.length / 2, step = duration / count;
    const found = [];
    let start = -1;
    for (let point = 0; point <= count; point++) {
        const is = point < count && condition(Math.max(-pairs[2 * point], pairs[2 * point + 1]));
        if (is && start < 0) start = point;
        if (is || start < 0) continue;
        if ((point - start) * step >= seconds) found.push([start * step, point * step]);
        start = -1;
    }
    return found;
}

/** Silence: half a second at -50 dB or less, as exact as the pairs are. */
export const silences = (pairs, duration) => spans(pairs, duration, 0.5, peak => peak <= 0.00316);

/** Samples at full scale. */
export const clippings = (pairs, duration) => spans(pairs, duration, 0, peak => peak >= 0.9999);
