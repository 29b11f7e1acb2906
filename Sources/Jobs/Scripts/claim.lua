-- Runs maintenance, then claims jobs for a worker.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     worker, counter, nonce, count, settings, `again` if the last answer was that, `insist` to claim jobs although more are
--          to be admitted, else ''.
-- Answers  {status, ms until the next delayed job or -1, ms until the next lease expires or -1, the leases that were found
--          expired (as in `admit`), jobs}.
--          The status is `ok`, `again` (nothing was claimed, because a job of a higher priority may still be in the inbox, or
--          because many jobs could not run: call again), `more` (fewer than requested were claimed, for the same reasons) or
--          `paused`.
--          Each job is five words: id, token, counts, spec, commit record or ''. The counts are `attempt attempts
--          crashes created waited`; created is ms since 1970, or `-`; waited is ms since the job became ready, or `-` in a
--          repeated answer. Then follow the fields whose options the queue could not use.
--          A worker numbers its calls. A repeated call with the last counter returns the same jobs for 10 minutes, except those
--          that the worker no longer owns. A call with a smaller counter returns nothing: it is a late duplicate.

-- require core
-- require bell

local worker, counter, nonce, slots, new_settings, urgency = unpack(ARGV)
local wanted = tonumber(slots)
-- The answer, in the order in which Swift decodes it; `reply` adds the first three words, and `packed` the specs.
local answer, claimed, spec_keys = { 'ok', -1, -1, {} }, {}, {}

local function hand_over(id, token, counts, record)
  local n, words = #claimed + 1, 4 + 5 * #claimed
  claimed[n], spec_keys[n] = id, P .. 'spec:' .. id
  answer[words + 1], answer[words + 2], answer[words + 3] = id, token, counts
  answer[words + 4], answer[words + 5] = '{}', record
end

local HALF_OCTAVE, buckets = math.log(2) / 2, {}

-- Milliseconds since the job became ready: when it was promoted or given back, or else when it was pushed. They are also counted in
-- a bucket of the hour: `w0` is less than 1 ms, and `wN` from 2^((N-1)/2) ms to less than 2^(N/2) ms.
local function waited(id, ready)
  local ms = math.max(NOW - (tonumber(ready or string.match(id, '^%d+')) or NOW), 0)
  local number = ms < 1 and 0 or 1 + math.floor(math.log(ms) / HALF_OCTAVE + 1e-9)
  local bucket = buckets[number] or 'w' .. number
  buckets[number] = bucket
  waits[bucket] = (waits[bucket] or 0) + 1
  return whole(ms)
end

-- One MGET for all specs costs less than a GET for each.
local function packed()
  for i, spec in ipairs(claimed[1] and call('MGET', unpack(spec_keys)) or {}) do answer[3 + 5 * i] = spec or '{}' end
  return answer
end

local worker_key = P .. 'worker:' .. worker

-- Ends the script; `...` are fields of `meta` that changed.
local function reply(status, next_due, next_lease, ...)
  answer[1], answer[2], answer[3] = status, next_due, next_lease
  -- Recorded even if nothing was claimed: a late duplicate of the call would claim jobs that no worker receives. `again` is not
  -- recorded, because the worker repeats that call.
  if status ~= 'again' then
    call('HSET', worker_key, 'claim', counter .. ' ' .. table.concat(claimed, ' '))
    call('PEXPIRE', worker_key, '600000')
  end
  ring()
  save(...)
  return packed()
end

local lease_end, first_token = whole(NOW + string.match(settings, '^%d+')), '1:' .. nonce

-- A waiting job whose hash has only `state` and `score` was never claimed, and has no options that the queue uses. All that a
-- claim needs of it is known, so its hash is not read.
local NEW_FIELDS = 2

local function take_new(id, key)
  call('HSET', key, 'state', 'running', 'attempt', '1', 'token', first_token, 'worker', worker, 'started', now, 'phase', 'opening')
  add(removals, READY, id)
  add(additions, LEASE, lease_end, id)
  event(id, 'running', 'attempt', '1')
  hand_over(id, first_token, '1 5 0 - ' .. waited(id), '')
end

-- Claims `wanted` such jobs. Returns false, and changes nothing, if not all of the first jobs are such.
local function take_all_new()
  local ready, keys = call('ZRANGE', READY, '0', whole(wanted - 1)), {}
  if #ready < wanted then return false end
  for n, id in ipairs(ready) do
    keys[n] = P .. 'job:' .. id
    if call('HLEN', keys[n]) ~= NEW_FIELDS then return false end
  end
  begin()
  answer_bell()
  for n, id in ipairs(ready) do take_new(id, keys[n]) end
  apply()
  return true
end

-- Of thousands of claims a second, few need to sweep.
local SWEEP_MS = 20
-- The first claim of a queue sweeps.
local swept_at = tonumber(saved_seen or math.huge)
local last_counter, given = string.match(call('HGET', worker_key, 'claim') or '', '^(%d+)(.*)$')
-- The ids that a repeated call was given, none for a late duplicate; false or `nil` for a new call.
local repeated_ids = last_counter and tonumber(counter) <= tonumber(last_counter) and (counter == last_counter and given or '')
local needs_sweep = NOW < swept_at or NOW >= swept_at + SWEEP_MS or urgency ~= ''
if not repeated_ids and not needs_sweep and not paused and new_settings == saved_settings
  and wanted > 0 and not has_entries() and take_all_new() then
  return reply('ok', -1, -1)
end

-- The functions for all other cases are created for them alone.
return (function()
-- require base
-- require maintenance

local function hand_over_job(job, wait)
  local counts = job.attempt .. ' ' .. job.attempts .. ' ' .. job.crashes .. ' ' .. (job.created or '-') .. ' ' .. wait
    .. (job.unusable and ' ' .. job.unusable or '')
  hand_over(job.id, job.token, counts, job.commit and call('GET', P .. 'commit:' .. job.id) or '')
end

if repeated_ids then
  for id in string.gmatch(repeated_ids, '%S+') do
    local job = read(id)
    if job and job.state == 'running' and string.match(job.token, ':(.*)$') == nonce then hand_over_job(job, '-') end
  end
  return packed()
end

local function take(job)
  local epoch = job.token and tonumber(string.match(job.token, '^%d+')) + 1 or 1
  job.token, job.attempt = whole(epoch) .. ':' .. nonce, job.attempt + 1
  hand_over_job(job, waited(job.id, job.ready or job.created))
  local attempt = whole(job.attempt)
  if job.progress then call('HDEL', job.key, 'progress') end
  move(job, 'running', lease_end, 'attempt', attempt, 'token', job.token, 'worker', worker,
    'started', now, 'phase', 'opening')
  job_event(job, 'running', 'attempt', attempt)
end

-- Claims a job of `ready`, or moves it to where it belongs. Returns whether the index must be read again before the next job,
-- because a job of the same `limit_key` may have been unparked with a better score.
local function process(id)
  local key = P .. 'job:' .. id
  if call('HLEN', key) == NEW_FIELDS then
    take_new(id, key)
    return false
  end
  local job = read(id)
  if not job then
    call('ZREM', READY, id)
    call('SREM', LIVE, id)
    return false
  elseif job.state ~= 'waiting' or job.parked then
    reject(READY, id)
    return false
  elseif job.limit_key and limits().is_full(job.limit_key) then
    move(job, 'waiting', job.score)
    return false
  elseif (last_moment(job) or math.huge) <= NOW then
    expire(job)
  else
    take(job)
  end
  return job.limit_key ~= nil
end

answer[4] = lost
start_worker_call(new_settings)
answer_bell()
local more = admit_inbox()
-- A job that is due does not wait while a slot stays free.
if needs_sweep or call('ZCARD', READY) < wanted then more = sweep_all() or more end
local status, budget = 'ok', wanted + 64
if paused then
  status = 'paused'
elseif more and urgency ~= 'insist' then
  status = 'again'
else
  is_batch = true
  while #claimed < wanted and budget > 0 do
    local ready = call('ZRANGE', READY, '0', whole(wanted - #claimed - 1))
    if #ready == 0 then break end
    for _, id in ipairs(ready) do
      budget = budget - 1
      if process(id) then break end
    end
    apply()
  end
  if budget <= 0 and #claimed < wanted and call('ZCARD', READY) > 0 then status = #claimed > 0 and 'more' or 'again' end
end
local next_due, next_lease = -1, -1
if #claimed < wanted then
  next_due, next_lease = until_first(INDEX.delayed, 0), until_first(LEASE, grace)
  local paced = until_first(PACED, 0)
  if paced >= 0 and (next_due < 0 or paced < next_due) then next_due = paced end
end
return reply(status, next_due, next_lease, worker_call_fields())
end)()
