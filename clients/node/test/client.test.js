// The client against a real server, Redis and worker; Tests/EndToEnd/test_clients.py starts them and gives their addresses.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import {
  AccessDenied, Client, InvalidJob, JobCancelled, JobFailed, NoSuchJob, RequestFailed, TooLate, Unreachable, WaitTimeout,
} from '../src/index.js';
import { EventStream } from '../src/eventstream.js';
import { limits } from '../src/limits.js';

const { RESPOOL_TEST_URL: url, RESPOOL_TEST_SOURCE: source } = process.env;
const client = new Client(url, { token: 'operate-secret' });
const fields = (more = {}) => ({ source, format: 'flac', ...more });
const minute = { timeout: 60_000 };
const soon = () => ({ signal: AbortSignal.timeout(60_000) });

async function take(count, options) {
  const changes = [];
  for await (const change of client.events({ ...soon(), ...options })) if (changes.push(change) === count) break;
  return changes;
}

function close(proxy, links) {
  for (const link of links) link.destroy();
  proxy.close();
}

test('a job is pushed and waited for', async () => {
  const id = await client.push(fields({ start: 1, end: 2.5, metadata: { title: 'ä' } }));
  const job = await client.wait(id, minute);
  assert.deepEqual([job.id, job.state, job.outputs[0].duration], [id, 'completed', 1.5]);
  assert.deepEqual(await client.status(id), job);
});

test('a failed job throws its code', async () => {
  const id = await client.push({ source: source.replace('a.wav', 'missing.wav'), format: 'mp3', attempts: 1 });
  await assert.rejects(client.wait(id, minute), (error) => error instanceof JobFailed && error.code === 'source_not_found');
});

test('an invalid job names its field, and so does one of many', async () => {
  const names = (pointer, pushed) => (error) =>
    error instanceof InvalidJob && error.errors[0].pointer === pointer && error.pushed.length === pushed;
  await assert.rejects(client.push(fields({ fromat: 'mp3' })), names('/fromat', 0));
  await assert.rejects(client.push(fields({ gain: NaN })), names('/gain', 0));
  await assert.rejects(client.push(fields({ outputs: [{}, { 'a/b~': Infinity }] })), names('/outputs/1/a~1b~0', 0));
  await assert.rejects(client.pushMany([fields(), fields(), fields({ gain: NaN })]), names('/jobs/2/gain', 0));
  const group = `node-many-${process.pid}`;
  const jobs = Array.from({ length: 1002 }, () => fields({ delay: 3600, group }));
  jobs[1001].fromat = 'mp3';
  await assert.rejects(client.pushMany(jobs), names('/jobs/1001/fromat', 1000));
});

test('jobs are waited for together, and a duplicate gives its first job', async () => {
  const dedup = `node-${process.pid}`;
  const ids = await client.pushMany([fields(), fields({ format: 'mp3' }), fields({ dedup, delay: 1 }), fields({ dedup, delay: 1 })]);
  const ended = new Map();
  for await (const job of client.waitMany(ids, minute)) ended.set(job.id, job.state);
  assert.deepEqual(new Set(ended.keys()), new Set(ids));
  assert.equal(ended.size, 3);
});

test('a job is cancelled', async (t) => {
  const id = await client.push(fields({ delay: 3600 }));
  await assert.rejects(client.wait(id, { timeout: 200 }), WaitTimeout);
  await assert.rejects(async () => { for await (const _ of client.waitMany([id], { timeout: 200 })); }, WaitTimeout);
  // Longer than a timer of Node.js can wait.
  const days = { timeout: 2 ** 31, signal: AbortSignal.timeout(200) };
  await assert.rejects(async () => { for await (const _ of client.waitMany([id], days)); }, { name: 'TimeoutError' });
  const longest = limits.timer;
  t.after(() => { limits.timer = longest; });
  limits.timer = 50;
  const start = performance.now();
  await assert.rejects(async () => { for await (const _ of client.waitMany([id], { timeout: 200 })); }, WaitTimeout);
  assert.ok(performance.now() - start >= 199);
  await assert.rejects(client.wait(id, { signal: AbortSignal.timeout(200) }), { name: 'TimeoutError' });
  assert.equal(await client.cancel(id), 'cancelled');
  await assert.rejects(client.wait(id), JobCancelled);
  await assert.rejects(client.cancel(id), TooLate);
  for (const call of ['cancel', 'status', 'wait']) await assert.rejects(client[call]('1-1'), NoSuchJob);
});

test('events of a job continue after an id', async () => {
  const changes = client.events(soon());
  assert.deepEqual((await changes.next()).value, { gap: true });
  await client.push(fields());
  const { value: first } = await changes.next();
  await changes.return();
  const id = await client.push(fields());
  await client.wait(id, minute);
  const events = [];
  for await (const event of client.events({ ...soon(), job: id, after: first.id })) {
    events.push(event);
    if (event.state === 'completed') break;
  }
  assert.ok(events.length > 2 && events.every((event) => event.job === id && !event.gap));
  assert.deepEqual(await take(events.length - 2, { job: id, after: events[1].id }), events.slice(2));
  assert.deepEqual(await take(1, { after: '1-1' }), [{ gap: true }]);
});

test('a push whose response was lost is repeated once, and events go on after a lost connection', async (t) => {
  let toLose = 'POST /v1/jobs';
  const links = new Set();
  const proxy = net.createServer((near) => {
    const far = net.connect(Number(new URL(url).port), '127.0.0.1');
    let isDoomed = false;
    near.on('data', (data) => {
      if (toLose && data.includes(toLose)) [isDoomed, toLose] = [true, ''];
      far.write(data);
    });
    far.on('data', (data) => (isDoomed ? near.destroy() : near.write(data)));
    for (const end of [near, far]) end.on('error', () => {}).on('close', () => { near.destroy(); far.destroy(); });
    links.add(near);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  t.after(() => close(proxy, links));
  const cut = new Client(`http://127.0.0.1:${proxy.address().port}`, { token: 'operate-secret' });
  const group = `node-lost-${process.pid}`;
  const ids = await cut.pushMany([fields({ group }), fields({ group })]);
  assert.equal(toLose, '');
  const response = await fetch(`${url}/v1/groups/${group}`, { headers: { authorization: 'Bearer operate-secret' } });
  assert.equal((await response.json()).total, 2, `jobs of ${ids}`);
  const numbers = [];
  const pushing = setInterval(() => client.push(fields({ delay: 3600 })), 50);
  t.after(() => clearInterval(pushing));
  for await (const event of cut.events(soon())) {
    if (event.gap && numbers.length === 0) continue;
    if (numbers.push(event.n) % 5 === 1) for (const link of links) link.destroy();
    if (numbers.length === 12) break;
  }
  assert.deepEqual(numbers, numbers.map((_, step) => numbers[0] + step));
});

test('an event stream that was quiet for long is opened again', async (t) => {
  const links = new Set();
  const silent = new Set();
  const proxy = net.createServer((near) => {
    const far = net.connect(Number(new URL(url).port), '127.0.0.1');
    near.on('data', (data) => far.write(data));
    far.on('data', (data) => silent.has(near) || near.write(data));
    for (const end of [near, far]) end.on('error', () => {}).on('close', () => { near.destroy(); far.destroy(); });
    links.add(near);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  t.after(() => close(proxy, links));
  const follower = new Client(`http://127.0.0.1:${proxy.address().port}`, { token: 'operate-secret', reconnectTimeout: 500 });
  const changes = follower.events(soon());
  assert.deepEqual((await changes.next()).value, { gap: true });
  const told = async (id) => { while ((await changes.next()).value.job !== id); };
  await told(await client.push(fields({ delay: 3600 })));
  // Longer than the client tries to connect again: that time begins when the stream is lost.
  for (const link of links) silent.add(link);
  setTimeout(() => { for (const link of silent) link.destroy(); }, 800);
  await told(await client.push(fields({ delay: 3600 })));
  const longest = limits.silence;
  t.after(() => { limits.silence = longest; });
  limits.silence = 800;
  await told(await client.push(fields({ delay: 3600 })));
  // A loop that takes its time for a change does not lose the stream.
  const count = links.size;
  await new Promise((resolve) => { setTimeout(resolve, 1200); });
  await told(await client.push(fields({ delay: 3600 })));
  assert.equal(links.size, count);
  for (const link of links) silent.add(link);
  await told(await client.push(fields({ delay: 3600 })));
  assert.ok(links.size > count);
  await changes.return();
});

test('an event stream goes on whichever entry the server greets with', () => {
  const read = (stream, text) => [...stream.read(new TextEncoder().encode(text))];
  for (const greeting of ['7-1', '9-0']) {
    const hello = `id: ${greeting}\nevent: hello\ndata: {}\n\n`;
    let stream = new EventStream('7-1');
    assert.deepEqual([read(stream, hello), stream.position], [[], '7-1']);
    stream.reconnect();
    const [event] = read(stream, `${hello}id: 8-0\nevent: job\ndata: {"n":2,"id":"a","state":"waiting"}\n\n`);
    assert.deepEqual([event.n, stream.position], [2, '8-0']);
    // Behind a comment comes nothing that was stored before.
    read(stream, ': comment\n\n');
    assert.equal(stream.position, greeting > '8-0' ? greeting : '8-0');
    stream = new EventStream('7-1');
    assert.deepEqual([read(stream, `${hello}event: gap\ndata: {}\n\n`), stream.position], [[{ gap: true }], greeting]);
  }
});

test('many calls share a client', async () => {
  const ids = await Promise.all(Array.from({ length: 60 }, () => client.push(fields({ end: 1 }))));
  const jobs = await Promise.all(ids.map((id) => client.wait(id, minute)));
  assert.deepEqual(jobs.map(({ id }) => id), ids);
});

test('a key that was used for another job is refused', async () => {
  const key = { idempotencyKey: `order-${process.pid}` };
  assert.equal(await client.push(fields({ delay: 3600 }), key), await client.push(fields({ delay: 3600 }), key));
  await assert.rejects(client.push(fields(), key), (error) => error instanceof RequestFailed && error.code === 'key_reused');
  // The ids of the jobs before it are kept.
  const order = `orders-${process.pid}`;
  await client.push(fields({ delay: 3600 }), { idempotencyKey: `${order}.1` });
  const jobs = Array.from({ length: 1001 }, () => fields({ delay: 3600 }));
  await assert.rejects(client.pushMany(jobs, { idempotencyKey: order }), (error) =>
    error.code === 'key_reused' && new Set(error.pushed).size === 1000);
});

test('what is not allowed, and what does not respond', async () => {
  await assert.rejects(new Client(url).push(fields()), AccessDenied);
  await assert.rejects(new Client(url, { token: 'read-secret' }).push(fields()), AccessDenied);
  const gone = net.createServer().listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const { port } = gone.address();
  gone.close();
  const absent = new Client(`http://127.0.0.1:${port}`, { reconnectTimeout: 300 });
  const isUnreachable = (error) => error instanceof Unreachable && !error.mayHavePushed;
  await assert.rejects(absent.push(fields()), isUnreachable);
  await assert.rejects(absent.events().next(), isUnreachable);
  assert.throws(() => new Client('redis://127.0.0.1'), TypeError);
});
