-- Finishes one attempt of each of some jobs, in their order.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     for each attempt: how many words follow, then id, token, outcome, log (lines) or '', and for the outcome
--          completed: outputs (JSON), ms of audio
--          failed, crashed: error code, message, `1` if retryable, ms that the source's server asks to wait or '',
--                           a random number from 0 to 1, and for `failed` the outputs (JSON) if some of them did not fail or '',
--                           and the wrong fields (JSON) or ''
--          cancelled, released: no more words.
-- Answers  for each the job's new state, for a delayed one followed by a space and when it is due, in ms since 1970; `STALE` if
--          the token is not the job's (nothing changed); `PUBLISHING` if it is too late to cancel or release the job. The same
--          token gets the same answer again.

-- require core
-- require retention

-- The hash of a job in its first attempt has only these fields, if it has no options that the queue uses and nothing happened to it
-- since its claim: state, score, attempt, token, worker, started, phase.
local FIRST_ATTEMPT_FIELDS = 7

-- Whether it is such a job, which completes.
local function is_first(id, token, outcome, log)
  if outcome ~= 'completed' or log ~= '' then return false end
  local key = P .. 'job:' .. id
  local state, owner = unpack(call('HMGET', key, 'state', 'token'))
  return state == 'running' and owner == token and call('HLEN', key) == FIRST_ATTEMPT_FIELDS
end

-- Completes such a job, to which nothing refers but `lease` and `live`. Its result is already stored.
local function complete_first(id)
  call('HSET', P .. 'job:' .. id, 'state', 'completed', 'finished', now)
  add(removals, LEASE, id)
  add(additions, INDEX.completed, stamp(), id)
  live_removals[#live_removals + 1] = id
  note('completed')
  expire_spec(id, 'completed')
  event(id, 'completed')
end

-- The results of the first jobs, as the words of one MSET, which costs less than a SET for each.
local answers, first, results, ids, is_known = {}, 1, {}, {}, {}
begin()
while first < #ARGV do
  local id, n = ARGV[first + 1], #ids
  if is_known[id] or not is_first(unpack(ARGV, first + 1, first + 4)) then break end
  is_known[id], ids[n + 1] = true, id
  results[2 * n + 1], results[2 * n + 2] = P .. 'result:' .. id, ARGV[first + 5]
  answers[n + 1], first = 'completed', first + ARGV[first] + 1
end
if results[1] then call('MSET', unpack(results)) end
for _, id in ipairs(ids) do complete_first(id) end

-- The functions for other attempts are created for them alone. Trimming needs those of groups if there are any.
local function finish_others()
-- require base
-- require endings

local is_released = false
is_batch = true

-- Moves a job to where its next attempt waits, if it has one left. Returns its new state (and due time), and the time to live
-- of a terminal job.
local function retry_or_fail(job, token, outcome, code, message, wait, random)
  local answer, ttl
  local function again(delayed, ...)
    local failures = outcome == 'crashed' and delayed.crashes or delayed.attempt
    -- Full jitter, so that the jobs of one failing source do not all return at the same time.
    local delay = wait and math.min(wait, retry_after_cap)
      or math.floor(math.min(backoff_cap, backoff_base * 2 ^ (failures - 1)) * random)
    local due = NOW + delay
    answer = 'delayed ' .. due
    to_delayed(delayed, due, delay, 'ended', token .. ' ' .. answer, ...)
  end
  if outcome == 'crashed' then
    ttl = endings().crash(job, code, message, again)
  else
    note('retries')
    endings().remember(job, 'failed', code)
    again(job, 'tail', 1, 'error_code', code, 'error', string.sub(message, 1, 1024), 'retryable', 1)
  end
  if not answer then
    answer = job.state
    call('HSET', P .. 'job:' .. job.id, 'ended', token .. ' ' .. answer)
  end
  return answer, ttl
end

local function finish(id, token, outcome, log, ...)
  if is_first(id, token, outcome, log) then
    call('SET', P .. 'result:' .. id, (...))
    complete_first(id)
    return 'completed'
  end
  local job = read(id)
  if not job then return 'STALE' end
  -- Only `finish` completes a job, so the token of a completed job is the one that it was finished with.
  if job.state == 'completed' and job.token == token then return 'completed' end
  local given = answered(job.ended, token)
  if given then return given end
  if job.state ~= 'running' or job.token ~= token then return 'STALE' end
  if job.phase == 'publishing' and (outcome == 'cancelled' or outcome == 'released') then return 'PUBLISHING' end
  -- A result that a lost worker published is kept, so a job with a commit record is not cancelled.
  if job.cancel and outcome ~= 'crashed' and not job.commit then outcome = 'cancelled' end

  local answer, ttl
  if outcome == 'completed' then
    local outputs, ms = ...
    answer, job.result = 'completed', outputs
    call('SET', P .. 'result:' .. id, outputs)
    ttl = endings().retire(job, answer)
    if job.error_code or job.ended then call('HDEL', job.key, 'error_code', 'error', 'retryable', 'ended') end
    if job.group then call('HINCRBY', P .. 'group:' .. job.group, 'audio_ms', ms) end
    job_event(job, answer)
  elseif outcome == 'cancelled' then
    answer = 'cancelled'
    ttl = endings().cancel(job, 'ended', token .. ' cancelled')
  elseif outcome == 'released' then
    answer, is_released = 'waiting', true
    endings().remember(job, 'released')
    to_waiting(job, 'attempt', job.attempt - 1, 'ended', token .. ' waiting')
  else
    local code, message, retryable, wait, random, outputs, fields = ...
    if outcome == 'crashed' or retryable == '1' and job.attempt < job.attempts then
      answer, ttl = retry_or_fail(job, token, outcome, code, message, tonumber(wait), tonumber(random))
    elseif job.cancel then
      answer = 'cancelled'
      ttl = endings().cancel(job, 'ended', token .. ' cancelled')
    else
      answer, job.result = 'failed', outputs
      if outputs ~= '' then call('SET', P .. 'result:' .. id, outputs) end
      ttl = endings().fail(job, code, message, retryable, 'ended', token .. ' failed',
        unpack(fields ~= '' and { 'error_fields', fields } or {}))
    end
  end
  if log ~= '' then endings().keep_log(job, log, ttl) end
  return answer
end

while first < #ARGV do
  local last = first + ARGV[first]
  answers[#answers + 1], first = finish(unpack(ARGV, first + 1, last)), last + 1
end
-- `ring` reads an index.
apply()
if has_unparked or is_released then ring() end
end

if first < #ARGV or has_groups and next(to_trim) then finish_others() end
apply()
-- Stale attempts cause no write: Redis would refuse it when its memory is full, because nothing was freed before.
if events > tonumber(saved_events or 0) then save() end
return answers
