// Pushes a job to respool and follows it to its end, with node-redis alone.
//
//     node respool.js push SOURCE FORMAT [FIELD=VALUE…]    prints the job's id
//     node respool.js watch ID                             ends with 1 if the job does not complete
const { createClient, ErrorReply } = require('redis');

const prefix = `respool:{${process.env.RESPOOL_QUEUE || 'default'}}:`;
let queue;

// A client that gives up when its connection breaks, so that what it was asked fails, and the next one asks again.
function connect() {
  const socket = { reconnectStrategy: () => new Error('the connection broke') };
  queue = createClient({ url: process.env.RESPOOL_REDIS_URL || 'redis://127.0.0.1:6379', socket });
  queue.on('error', () => {}); // whoever asks hears of it
  return queue.connect();
}

const push = (source, format, ...fields) => queue.xAdd(prefix + 'in', '*', {
  source, format, ...Object.fromEntries(fields.map((field) => field.split(/=(.*)/s).slice(0, 2))),
});

// The job as it is now: its id, which is another one's if it is a duplicate, and its hash.
async function read(id, again = false) {
  id = (await queue.get(`${prefix}alias:${id}`)) || id;
  const job = await queue.hGetAll(`${prefix}job:${id}`);
  // Without a hash it is still in the inbox, or it was admitted just now, or there is none.
  if (job.state || (await queue.xRange(prefix + 'in', id, id)).length > 0) return [id, job];
  return again ? [id, { state: 'no such job' }] : read(id, true);
}

// Answers how the job ended, if it did not complete.
async function watch(id) {
  // The place in the stream first, then the job: so nothing that happens in between is missed.
  const [newest] = await queue.xRevRange(prefix + 'events', '+', '-', { COUNT: 1 });
  let [last, number] = newest ? [newest.id, Number(newest.message.n)] : ['0-0', 0];
  let changed = true;
  for (;;) {
    try {
      const at = { key: prefix + 'events', id: last };
      const streams = await queue.xRead(at, { COUNT: 100, ...(!changed && { BLOCK: 1000 }) });
      for (const { id: entry, message: event } of streams ? streams[0].messages : []) {
        // A gap in the numbers: events are gone from the stream, so the job itself must tell.
        changed = changed || event.id === id || Number(event.n) !== number + 1;
        [last, number] = [entry, Number(event.n)];
        if (event.id === id) console.log(...[event.state, event.phase, event.progress].filter(Boolean));
      }
      if (!changed) continue;
      let job;
      [id, job] = await read(id);
      if (job.state === 'completed') {
        const outputs = JSON.parse(await queue.get(`${prefix}result:${id}`));
        return outputs.forEach((output) => console.log('completed', output.url, output.bytes, 'bytes'));
      }
      if (['failed', 'cancelled', 'no such job'].includes(job.state)) {
        return [job.state, job.error_code, job.error].filter(Boolean).join(' ');
      }
      changed = false; // only after a read that succeeded, for `last` has moved on
    } catch (error) {
      if (error instanceof ErrorReply) throw error;
      changed = true;
      await new Promise((resume) => setTimeout(resume, 1000)); // `last` says where to go on
      await connect().catch(() => {});
    }
  }
}

const [verb, ...words] = process.argv.slice(2);
connect().then(() => (verb === 'push' ? push(...words).then(console.log) : watch(words[0])))
  .catch((error) => error.message)
  .then((end) => { if (end) console.error(end); process.exit(end ? 1 : 0); });
