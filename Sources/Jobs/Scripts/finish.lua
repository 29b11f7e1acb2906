-- Ends one try of a job.
--
-- ARGV     id, token, outcome, log (lines) or '', then
--          completed: outputs (JSON)
--          failed, crashed: error code, message, `1` if retryable, ms that the source's server asks to wait or '',
--                           a random number from 0 to 1
--          cancelled, released: nothing.
-- Answers  the job's new state, for a delayed one followed by a blank and when it is due, in ms since 1970;
--          `STALE` if the token is not the job's (nothing changed); `PUBLISHING` if it is too late to cancel or to give back.
--          The same token gets the same answer again.

local id, token, outcome, log = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local key = P .. 'job:' .. id
local ended, answer = call('HGET', key, 'ended'), nil
if ended and string.sub(ended, 1, #token + 1) == token .. ' ' then return string.sub(ended, #token + 2) end
local job = read(id)
if not job or job.state ~= 'running' or job.token ~= token then return 'STALE' end
local publishing = job.phase == 'publishing'
if publishing and (outcome == 'cancelled' or outcome == 'released') then return 'PUBLISHING' end
if job.cancel then outcome = outcome == 'crashed' and outcome or 'cancelled' end

local code, message, retryable, wait = ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8] or '')

-- Full jitter, so that many jobs of one broken source do not return at once.
local function backoff(failures)
  if wait then return NOW + math.min(wait, retry_after_cap) end
  return NOW + math.floor(math.min(backoff_cap, backoff_base * 2 ^ (failures - 1)) * tonumber(ARGV[9]))
end

local function again(failures)
  return function(delayed, ...)
    local due = backoff(failures)
    answer = 'delayed ' .. due
    to_delayed(delayed, due, ...)
  end
end

local ttl
if outcome == 'completed' then
  ttl = retire(job, 'completed')
  if job.attempt > 1 or job.crashes > 0 then call('HDEL', key, 'error_code', 'error', 'retryable') end
  call('SET', P .. 'result:' .. id, ARGV[5], 'PX', ttl)
  event(id, 'completed')
elseif outcome == 'cancelled' then
  ttl = cancel(job)
elseif outcome == 'released' then
  to_waiting(job, 'attempt', job.attempt - 1)
elseif outcome == 'crashed' then
  ttl = crash(job, code, message, again(job.crashes + 1))
elseif retryable == '1' and job.attempt < job.attempts then
  again(job.attempt)(job, 'error_code', code, 'error', string.sub(message, 1, 1024), 'retryable', 1)
else
  ttl = fail(job, code, message, retryable)
end
answer = answer or job.state
call('HSET', key, 'ended', token .. ' ' .. answer)
if log ~= '' then
  log = string.sub(log, -8192)
  if ttl then call('SET', P .. 'log:' .. id, log, 'PX', ttl) else call('SET', P .. 'log:' .. id, log) end
end
ring()
save()
return answer
