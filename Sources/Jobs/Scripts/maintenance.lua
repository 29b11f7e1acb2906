-- Part of the workers' scripts: the grace period after an outage or a clock that was set back, expiry of jobs, promotion of due
-- ones, reaping of lost leases.

-- require constants
-- require admission
-- require endings
-- require limits
-- require callbacks

-- When a worker's call last swept; calls that do not sweep follow within 20 ms of one that does.
-- `walk` is the position up to which delays were shortened after the clock was set back; '' if all were.
local saved_grace, saved_walk = unpack(call('HMGET', META, 'grace', 'walk'))
local seen, grace, walk, given_settings = tonumber(saved_seen or NOW), tonumber(saved_grace or 0), saved_walk or '', nil

-- Begins a worker's call, or maintenance by another program, which has no settings and keeps the saved ones. The first command is
-- one that Redis allows when its memory is full.
local function start_worker_call(worker_settings)
  begin()
  if NOW < seen or NOW > seen + 3000 then
    -- No worker could call for a while, so every lease gets a full term before any is reaped.
    grace = NOW + lease_ms
    -- If the clock was set back, the ends of leases and of delays and the next starts of rated keys would be far in the future.
    for _, id in ipairs(call('ZRANGEBYSCORE', LEASE, '(' .. whole(grace), '+inf')) do call('ZADD', LEASE, grace, id) end
    for _, key in ipairs(call('ZRANGEBYSCORE', PACED, '(' .. now, '+inf')) do limits().pace(key) end
    for _, host in ipairs(call('ZRANGE', CALLBACKS, '0', '-1')) do callbacks().shorten_waits(host) end
    walk = '0'
  elseif NOW >= grace then
    grace = 0
  end
  given_settings, settings = worker_settings, worker_settings or settings
end

local function expire(job)
  local is_late = job.deadline and job.deadline <= NOW
  endings().fail(job, 'expired', is_late and LATE or 'the job expired before it started', 0)
end

-- Removes the entry of a job that its state contradicts, and lets a worker repair the queue.
local function reject(index, id)
  call('ZREM', index, id)
  call('HINCRBY', META, 'broken', '1')
end

-- Calls a function for up to `most` jobs of an index that are due and in one of the states. Returns whether there may be more.
local function sweep(index, most, act, state, other_state)
  local due = call('ZRANGEBYSCORE', index, '-inf', now, 'LIMIT', '0', most)
  for _, id in ipairs(due) do
    local job = read(id)
    if job and job.state ~= state and job.state ~= other_state then
      reject(index, id)
    elseif job then
      act(job)
    else
      call('ZREM', index, id)
      call('SREM', LIVE, id)
    end
  end
  return #due == tonumber(most)
end

-- The leases that this call found expired: for each the job's id, its attempt, the lost worker, and the job's new state.
local lost = {}

local function reap(job)
  local attempt, lost_worker = endings().reap(job)
  local n = #lost
  lost[n + 1], lost[n + 2], lost[n + 3], lost[n + 4] = job.id, attempt, lost_worker, job.state
end

-- Returns whether there is more to admit.
local function admit_inbox() return call('XLEN', IN) > 0 and admission().admit() end

-- Shortens the waits of some delayed jobs to their lengths.
local function shorten_waits()
  local position, found = unpack(call('ZSCAN', INDEX.delayed, walk, 'COUNT', '256'))
  for i = 1, #found, 2 do
    local wait = tonumber(call('HGET', P .. 'job:' .. found[i], 'wait') or nil)
    local job = wait and found[i + 1] - NOW > wait and read(found[i])
    if job and job.state == 'delayed' then to_delayed(job, NOW + wait, wait) end
  end
  walk = position ~= '0' and position or ''
end

local has_swept = false

-- Expires, promotes, unparks and reaps, each within its bound. Returns whether more remains of the first two.
local function sweep_all()
  local more = sweep(EXPIRING, '64', expire, 'waiting', 'delayed')
  more = sweep(INDEX.delayed, '64', promote, 'delayed') or more
  for _, key in ipairs(call('ZRANGEBYSCORE', PACED, '-inf', now, 'LIMIT', '0', '64')) do limits().unpark_paced(key) end
  if NOW >= grace then sweep(LEASE, '16', reap, 'running') end
  if walk ~= '' then shorten_waits() end
  has_swept = true
  return more
end

-- Admits and sweeps. Returns whether more remains of it.
local function run_maintenance()
  local more = admit_inbox()
  return sweep_all() or more or walk ~= ''
end

-- Milliseconds until the first of an index is due.
local function until_first(set, floor)
  local first = call('ZRANGE', set, '0', '0', 'WITHSCORES')[2]
  return first and math.max(math.max(tonumber(first), floor) - NOW, 0) or -1
end

-- The fields of `meta` that a worker's call changes, for `save`.
local function worker_call_fields()
  local fields = has_swept and { 'seen', now, 'grace', whole(grace) } or {}
  if walk ~= (saved_walk or '') then
    fields[#fields + 1] = 'walk'
    fields[#fields + 1] = walk
  end
  if given_settings and settings ~= saved_settings then
    fields[#fields + 1] = 'settings'
    fields[#fields + 1] = settings
  end
  return unpack(fields)
end
