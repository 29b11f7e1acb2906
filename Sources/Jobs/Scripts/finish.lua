-- Ends one try of a job.
--
-- ARGV     id, token, outcome, log (lines) or '', then
--          completed: outputs (JSON), ms of audio
--          failed, crashed: error code, message, `1` if retryable, ms that the source's server asks to wait or '',
--                           a random number from 0 to 1, and for `failed` the outputs (JSON) where some did not fail
--          cancelled, released: nothing.
-- Answers  the job's new state, for a delayed one followed by a blank and when it is due, in ms since 1970;
--          `STALE` if the token is not the job's (nothing changed); `PUBLISHING` if it is too late to cancel or to give back.
--          The same token gets the same answer again.

local id, token, outcome, log = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local job = read(id)
if not job then return 'STALE' end
local given = answered(job.ended, token)
if given then return given end
if job.state ~= 'running' or job.token ~= token then return 'STALE' end
if job.phase == 'publishing' and (outcome == 'cancelled' or outcome == 'released') then return 'PUBLISHING' end
if job.cancel and outcome ~= 'crashed' then outcome = 'cancelled' end

local key, code, message, retryable, wait = P .. 'job:' .. id, ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8] or '')

-- Full jitter, so that many jobs of one broken source do not return at once.
local function due_after(failures)
  if wait then return NOW + math.min(wait, retry_after_cap) end
  return NOW + math.floor(math.min(backoff_cap, backoff_base * 2 ^ (failures - 1)) * tonumber(ARGV[9]))
end

local answer, ttl
if outcome == 'completed' then
  answer, job.result = 'completed', ARGV[5]
  ttl = retire(job, answer, 'ended', token .. ' completed')
  if job.attempt > 1 or job.crashes > 0 then call('HDEL', key, 'error_code', 'error', 'retryable') end
  call('SET', P .. 'result:' .. id, ARGV[5], 'PX', ttl)
  if job.group then call('HINCRBY', P .. 'group:' .. job.group, 'audio_ms', ARGV[6] or 0) end
  event(id, answer)
elseif outcome == 'cancelled' then
  answer = 'cancelled'
  ttl = cancel(job, 'ended', token .. ' cancelled')
elseif outcome == 'released' then
  answer = 'waiting'
  to_waiting(job, 'attempt', job.attempt - 1, 'ended', token .. ' waiting')
elseif outcome == 'crashed' or retryable == '1' and job.attempt < job.attempts then
  local function again(delayed, ...)
    local due = due_after(outcome == 'crashed' and delayed.crashes or delayed.attempt)
    answer = 'delayed ' .. due
    to_delayed(delayed, due, 'ended', token .. ' ' .. answer, ...)
  end
  if outcome == 'crashed' then
    ttl = crash(job, code, message, again)
  else
    note('retries')
    again(job, 'error_code', code, 'error', string.sub(message, 1, 1024), 'retryable', 1)
  end
  if not answer then
    answer = job.state
    call('HSET', key, 'ended', token .. ' ' .. answer)
  end
else
  answer, job.result = 'failed', ARGV[10]
  ttl = fail(job, code, message, retryable, 'ended', token .. ' failed')
  if (ARGV[10] or '') ~= '' then call('SET', P .. 'result:' .. id, ARGV[10], 'PX', ttl) end
end
if log ~= '' then
  -- What earlier tries have left stands before it, as far as there is room.
  local earlier = (job.attempt > 1 or job.crashes > 0) and call('GET', P .. 'log:' .. id)
  if earlier then log = earlier .. '\n' .. log end
  if #log > 8192 then log = string.gsub(string.sub(log, -8192), '^[^\n]*\n', '') end
  if ttl then call('SET', P .. 'log:' .. id, log, 'PX', ttl) else call('SET', P .. 'log:' .. id, log) end
end
if ttl and events % 8 == 0 then trim(answer) end
if called or outcome == 'released' then ring() end
save()
return answer
