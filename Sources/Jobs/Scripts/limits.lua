-- Part of the scripts that change jobs: how many jobs of one `limit_key` run at once.
--
-- `limits` (hash) has the maximum by key, and under `*` that of all other keys; `limit:<key>` (set) has the running jobs.
-- `parked:<key>` (sorted set, scores as in `ready`) has the jobs that wait for one of them to end; `parked` has those of all
-- keys.
-- `rates` (hash) has how many jobs of a key may start per minute; `rate:<key>` is when the next one may, in ms.
-- `paced` (sorted set) has the same time for the keys with parked jobs.
-- Invariant: while jobs of a key are parked, at least as many as its maximum are running or ready, and each one that leaves
-- unparks the next; or the key is in `paced`, and maintenance unparks the next job when it may start.

limits = part(function()
  local LIMITS, RATES = P .. 'limits', P .. 'rates'

  local function number_of(hash, key)
    local own, common = unpack(call('HMGET', hash, key, '*'))
    return tonumber(own or common or math.huge)
  end

  -- The ms between two starts of jobs of the key; 0 if it has no rate.
  local function gap_of(key) return math.ceil(60000 / number_of(RATES, key)) end

  -- Records when the next job of the key may start.
  local function set_next_start(key, gap) call('SET', P .. 'rate:' .. key, NOW + gap, 'PX', gap + 1000) end

  -- When the next job of the key may start; `nil` if it may start now. A time that is more than the gap ahead is from before the
  -- clock was set back.
  local function next_start(key)
    local next_at = tonumber(call('GET', P .. 'rate:' .. key) or 0)
    if next_at <= NOW then return nil end
    local gap = gap_of(key)
    if next_at <= NOW + gap then return next_at end
    set_next_start(key, gap)
    return gap > 0 and NOW + gap or nil
  end

  local function free_permits(key)
    return next_start(key) and 0 or number_of(LIMITS, key) - call('SCARD', P .. 'limit:' .. key)
  end

  local function is_full(key) return free_permits(key) <= 0 end

  -- Adds the key to `paced` if it has parked jobs and the next one may not start yet.
  local function pace(key)
    local next_at = next_start(key)
    if next_at and call('EXISTS', P .. 'parked:' .. key) == 1 then call('ZADD', PACED, next_at, key) end
  end

  -- Records the start of a job of the key.
  local function begin_one(key)
    local gap = gap_of(key)
    if gap == 0 then return end
    set_next_start(key, gap)
    pace(key)
  end

  -- Makes the first parked job of a key ready.
  local function unpark_next(key)
    local id, score = unpack(call('ZRANGE', P .. 'parked:' .. key, 0, 0, 'WITHSCORES'))
    if not id then return false end
    call('ZREM', P .. 'parked:' .. key, id)
    call('ZREM', PARKED, id)
    call('HDEL', P .. 'job:' .. id, 'parked')
    -- HSET must not recreate a hash that was deleted.
    if call('EXISTS', P .. 'job:' .. id) == 1 then call('HSET', P .. 'job:' .. id, 'ready', now) end
    call('ZADD', READY, score, id)
    call('SADD', LIVE, id)
    has_unparked = true
    return true
  end

  -- Removes a job from the set that belongs to its old state.
  local function step_out(job)
    if job.parked then
      call('ZREM', P .. 'parked:' .. job.limit_key, job.id)
    elseif job.state == 'running' then
      call('SREM', P .. 'limit:' .. job.limit_key, job.id)
    end
  end

  -- Adds a job to the set that belongs to its new state; `was` is whether it was running or ready before.
  local function step_in(job, score, was, was_parked)
    local key = job.limit_key
    if job.parked then
      call('ZADD', P .. 'parked:' .. key, score, job.id)
      call('HSET', P .. 'job:' .. job.id, 'parked', 1)
      pace(key)
      return
    end
    if was_parked then call('HDEL', P .. 'job:' .. job.id, 'parked') end
    if job.state == 'running' then
      call('SADD', P .. 'limit:' .. key, job.id)
      begin_one(key)
    end
    -- A permit is free although this job took one: the maximum was raised.
    if was and not is_full(key) then unpark_next(key) end
  end

  -- Removes a job that is deleted before it ran.
  local function depart(job)
    step_out(job)
    if job.parked then
      call('ZREM', PARKED, job.id)
    elseif job.state == 'waiting' and not is_full(job.limit_key) then
      unpark_next(job.limit_key)
    end
  end

  -- Unparks a job of a key that may start one now.
  local function unpark_paced(key)
    call('ZREM', PACED, key)
    if not is_full(key) then unpark_next(key) end
    pace(key)
  end

  return {
    is_full = is_full, free_permits = free_permits, pace = pace, unpark_next = unpark_next, unpark_paced = unpark_paced,
    step_out = step_out, step_in = step_in, depart = depart,
  }
end)
