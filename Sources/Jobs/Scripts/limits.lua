-- Part of every script: how many jobs of one `limit_key` run at once.
--
-- `limits` (hash) has the number by key, and under `*` that of all other keys; `limit:<key>` (set) the jobs that run;
-- `parked:<key>` (sorted set, scores as in `ready`) those that wait for one of them to end, as `parked` has of all keys.
-- What holds: while jobs of a key are parked, no fewer than its number run or are ready, so one that goes calls one.

local LIMITS = P .. 'limits'
local called = false

local function places(key)
  local numbers = call('HMGET', LIMITS, key, '*')
  return (tonumber(numbers[1] or numbers[2] or math.huge)) - call('SCARD', P .. 'limit:' .. key)
end

function is_full(key) return places(key) <= 0 end

-- Makes the first parked job of a key ready.
local function call_next(key)
  local first = call('ZRANGE', P .. 'parked:' .. key, 0, 0, 'WITHSCORES')
  local id = first[1]
  if not id then return false end
  call('ZREM', P .. 'parked:' .. key, id)
  call('ZREM', PARKED, id)
  call('HDEL', P .. 'job:' .. id, 'parked')
  call('ZADD', READY, first[2], id)
  call('SADD', LIVE, id)
  called = true
  return true
end

-- Takes a job out of what its state says of its key.
function step_out(job)
  if job.parked then
    call('ZREM', P .. 'parked:' .. job.limit, job.id)
  elseif job.state == 'running' then
    call('SREM', P .. 'limit:' .. job.limit, job.id)
  end
end

-- Puts a job where its new state says; `was` tells whether it ran or was ready before.
function step_in(job, score, was, was_parked)
  local key = job.limit
  if job.parked then
    call('ZADD', P .. 'parked:' .. key, score, job.id)
    call('HSET', P .. 'job:' .. job.id, 'parked', 1)
    return
  end
  if was_parked then call('HDEL', P .. 'job:' .. job.id, 'parked') end
  if job.state == 'running' then call('SADD', P .. 'limit:' .. key, job.id) end
  -- A place that is free although this one is taken: the number was raised.
  if was and not is_full(key) then call_next(key) end
end

-- Takes a job out of its key that is deleted without having run.
local function depart(job)
  step_out(job)
  if job.parked then
    call('ZREM', PARKED, job.id)
  elseif job.state == 'waiting' and not is_full(job.limit) then
    call_next(job.limit)
  end
end
