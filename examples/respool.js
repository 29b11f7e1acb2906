// Pushes a job to respool and follows it to its end, with node-redis alone.
//
//     node respool.js push SOURCE FORMAT [FIELD=VALUE…]    prints the job's id
//     node respool.js watch ID                             ends with 1 if the job does not complete
const { createClient, commandOptions } = require('redis');

const prefix = `respool:{${process.env.RESPOOL_QUEUE || 'default'}}:`;
const queue = createClient({ url: process.env.RESPOOL_REDIS_URL || 'redis://127.0.0.1:6379' });
queue.on('error', () => {}); // it connects again by itself

const push = (source, format, ...fields) => queue.xAdd(prefix + 'in', '*', {
  source, format, ...Object.fromEntries(fields.map((field) => field.split(/=(.*)/s).slice(0, 2))),
});

// The job as it is now: its id, which is another one's if it is a duplicate, and its hash.
async function read(id) {
  id = (await queue.get(`${prefix}alias:${id}`)) || id;
  return [id, await queue.hGetAll(`${prefix}job:${id}`)];
}

async function watch(id) {
  // The place in the stream first, then the job: so nothing that happens in between is missed.
  const [newest] = await queue.xRevRange(prefix + 'events', '+', '-', { COUNT: 1 });
  let [last, number] = newest ? [newest.id, Number(newest.message.n)] : ['0-0', 0];
  let job;
  let isMissed = false;
  [id, job] = await read(id);
  for (;;) {
    if (job.state === 'completed') {
      const outputs = JSON.parse(await queue.get(`${prefix}result:${id}`));
      return outputs.forEach((output) => console.log('completed', output.url, output.bytes, 'bytes'));
    }
    if (['failed', 'cancelled', 'purged'].includes(job.state)) {
      throw new Error([job.state, job.error_code, job.error].filter(Boolean).join(' '));
    }
    try {
      const at = { key: prefix + 'events', id: last };
      const streams = await queue.xRead(commandOptions({ isolated: true }), at, { COUNT: 100, BLOCK: 1000 });
      for (const { id: entry, message: event } of streams ? streams[0].messages : []) {
        const isNext = Number(event.n) === number + 1;
        [last, number] = [entry, Number(event.n)];
        if (event.id === id) console.log(...[event.state, event.phase, event.progress].filter(Boolean));
        // A gap in the numbers: events are gone from the stream, so the job itself must tell.
        if (event.id === id || !isNext) {
          [id, job] = await read(id);
          if (!job.state && event.state === 'purged') job = { state: 'purged' };
        }
      }
      if (isMissed) [id, job] = await read(id);
      isMissed = false;
    } catch (error) {
      isMissed = true; // perhaps between an event and the job
      await new Promise((resume) => setTimeout(resume, 1000)); // `last` says where to go on
    }
  }
}

const [verb, ...words] = process.argv.slice(2);
queue.connect().then(() => (verb === 'push' ? push(...words).then(console.log) : watch(words[0])))
  .then(() => process.exit(0), (error) => { console.error(error.message); process.exit(1); });
