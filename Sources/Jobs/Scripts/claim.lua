-- Runs maintenance, then claims jobs for a worker.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     worker, counter, nonce, count, settings, `1` to claim jobs although more are to be admitted.
-- Answers  {status, ms until the next delayed job or -1, ms until the next lease expires or -1, the leases that were found
--          expired (as in `admit`), jobs}.
--          The status is `ok`, `again` (nothing was claimed, because a job of a higher priority may still be in the inbox, or
--          because many jobs could not run: call again), `more` (fewer than requested were claimed, for the same reasons) or
--          `paused`.
--          Each job is eight words: id, token, attempt, attempts, crashes, created ms or '', spec, commit record or ''.
--          A worker numbers its calls. A repeated call with the last counter returns the same jobs for 10 minutes, except those
--          that the worker no longer owns. A call with a smaller counter returns nothing: it is a late duplicate.

-- require base
-- require maintenance

local worker, counter, nonce, slots, worker_settings, insists = unpack(ARGV)
local count = tonumber(slots)
local status, next_due, next_lease = 'ok', -1, -1
-- The jobs to return, and the keys of their specs; `read_specs` replaces the keys by the specs.
local jobs, specs = {}, {}

local function hand_over(job)
  local n = #jobs + 1
  jobs[n], specs[n] = job, P .. 'spec:' .. job.id
  if job.commit then job.record = call('GET', P .. 'commit:' .. job.id) end
end

-- One MGET for all specs costs less than a GET for each.
local function read_specs()
  if specs[1] then specs = call('MGET', unpack(specs)) end
end

-- The answer, in the order in which Swift decodes `ClaimedJob`.
local function packed()
  local answer = { status, next_due, next_lease, lost }
  for i, job in ipairs(jobs) do
    local n = #answer
    answer[n + 1], answer[n + 2], answer[n + 3], answer[n + 4] = job.id, job.token, job.attempt, job.attempts
    answer[n + 5], answer[n + 6], answer[n + 7], answer[n + 8] = job.crashes, job.created or '', specs[i] or '{}', job.record or ''
  end
  return answer
end

local worker_key = P .. 'worker:' .. worker
local last, given = string.match(call('HGET', worker_key, 'claim') or '', '^(%d+)(.*)$')
if last and tonumber(counter) <= tonumber(last) then
  if counter == last then
    for id in string.gmatch(given, '%S+') do
      local job = read(id)
      if job and job.state == 'running' and string.match(job.token, ':(.*)$') == nonce then hand_over(job) end
    end
    read_specs()
  end
  return packed()
end

local lease_end = whole(NOW + lease_ms)

local function take(job)
  local epoch = job.token and tonumber(string.match(job.token, '^%d+')) + 1 or 1
  job.token, job.attempt = whole(epoch) .. ':' .. nonce, job.attempt + 1
  hand_over(job)
  local attempt = whole(job.attempt)
  if job.progress then call('HDEL', job.key, 'progress') end
  move(job, 'running', lease_end, 'attempt', attempt, 'token', job.token, 'worker', worker,
    'started', now, 'phase', 'opening')
  event(job.id, 'running', 'attempt', attempt)
end

start_worker_call(worker_settings)
answer_bell()
local more = run_maintenance()
local taken, budget = {}, count + 64
if paused then
  status = 'paused'
elseif more and insists ~= '1' then
  status = 'again'
else
  is_batch = true
  while #taken < count and budget > 0 do
    local ids = call('ZRANGE', READY, '0', whole(count - #taken - 1))
    if #ids == 0 then break end
    for _, id in ipairs(ids) do
      budget = budget - 1
      local job = read(id)
      if not job then
        call('ZREM', READY, id)
        call('SREM', LIVE, id)
      elseif job.limit_key and limits().is_full(job.limit_key) then
        move(job, 'waiting', job.score)
      elseif (last_moment(job) or math.huge) <= NOW then
        expire(job)
        -- That may have unparked a job of the same key with a better score, so read the index again.
        if job.limit_key then break end
      else
        take(job)
        taken[#taken + 1] = id
        if job.limit_key then break end
      end
    end
    apply()
  end
  if budget <= 0 and #taken < count and call('ZCARD', READY) > 0 then status = #taken > 0 and 'more' or 'again' end
  read_specs()
end
-- Recorded even if nothing was claimed: a late duplicate of the call would claim jobs that no worker receives. `again` is not
-- recorded, because the worker repeats that call.
if status ~= 'again' then
  call('HSET', worker_key, 'claim', counter .. ' ' .. table.concat(taken, ' '))
  call('PEXPIRE', worker_key, '600000')
end
if #taken < count then
  next_due, next_lease = until_first(INDEX.delayed, 0), until_first(LEASE, grace)
  local paced = until_first(PACED, 0)
  if paced >= 0 and (next_due < 0 or paced < next_due) then next_due = paced end
end
ring()
save_worker_call()
return packed()
