/** Turns the bytes of server-sent events into changes, and keeps the position behind them; it outlives connections. */
export class EventStream {
  constructor(position) {
    // The id of the entry after which the next connection continues.
    this.position = position;
    this.reconnect();
  }

  /** Drops what a lost connection left incomplete. */
  reconnect() {
    this.decoder = new TextDecoder();
    this.text = '';
    // The entry that the connection began with, if it is not the position: stored entries up to it come first.
    this.newest = undefined;
  }

  /** The changes that are complete with these bytes. */
  *read(bytes) {
    const frames = (this.text + this.decoder.decode(bytes, { stream: true })).replaceAll('\r\n', '\n').split('\n\n');
    this.text = frames.pop();
    for (const frame of frames) {
      const change = this.change(frame);
      if (change) yield change;
    }
  }

  change(frame) {
    const fields = Object.fromEntries(frame.split('\n').map((line) => line.split(/: ?(.*)/s).slice(0, 2)));
    switch (fields.event) {
      case 'hello':
        // The server repeats the position that it was given, or names its newest entry.
        if (this.position === undefined) this.position = fields.id;
        else if (fields.id !== this.position) this.newest = fields.id;
        return undefined;
      case 'gap':
        this.position = this.newest ?? this.position;
        return { gap: true };
      case 'job':
      case 'queue': {
        this.position = fields.id;
        if (this.newest && !isBefore(this.position, this.newest)) this.newest = undefined;
        const { n, id, state, at, details = {} } = JSON.parse(fields.data);
        return { gap: false, id: fields.id, n, job: id ?? null, state, at, details };
      }
      default:
        // A comment: what was stored when the connection was opened has come before it.
        if (fields.event === undefined && this.newest) [this.position, this.newest] = [this.newest, undefined];
        return undefined;
    }
  }
}

function isBefore(left, right) {
  const [a, b] = [left, right].map((id) => id.split('-').map(BigInt));
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}
