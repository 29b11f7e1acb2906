// Pushes a job to respool and follows it to its end, with the client of clients/node.
//
//     node convert.mjs push SOURCE FORMAT [FIELD=VALUE…]    prints the job's id
//     node convert.mjs watch ID                             ends with 1 if the job does not complete
//
// RESPOOL_URL is the address of the HTTP API (http://127.0.0.1:8080), RESPOOL_TOKEN its token.
import { Client, NoSuchJob } from '../../clients/node/src/index.js';

const { RESPOOL_URL = 'http://127.0.0.1:8080', RESPOOL_QUEUE: queue, RESPOOL_TOKEN: token } = process.env;
const respool = new Client(RESPOOL_URL, { queue, token });

async function watch(id) {
  for await (const change of respool.events({ job: id })) {
    if (!change.gap) {
      const { phase, progress } = change.details;
      console.log(...[change.state, phase, progress].filter((word) => word !== undefined));
      if (!['completed', 'failed', 'cancelled', 'purged'].includes(change.state)) continue;
    }
    // First, and after a gap in the events, only the job itself can tell.
    const { state, outputs, error } = await respool.status(id);
    if (state === 'completed') {
      for (const { url, bytes } of outputs) console.log('completed', url, bytes, 'bytes');
      return undefined;
    }
    if (state === 'failed' || state === 'cancelled') return [state, error?.code, error?.message].filter(Boolean).join(' ');
  }
}

const [verb, first, format, ...fields] = process.argv.slice(2);
const pairs = fields.map((field) => field.split(/=(.*)/s).slice(0, 2));
try {
  if (verb === 'push') console.log(await respool.push({ source: first, format, ...Object.fromEntries(pairs) }));
  else process.exitCode = ((end) => (end ? (console.error(end), 1) : 0))(await watch(first));
} catch (error) {
  console.error(error instanceof NoSuchJob ? 'no such job' : error.message);
  process.exitCode = 1;
}
