-- Part of the workers' scripts: the grace period after an outage or a clock that was set back, expiry of jobs, promotion of due
-- ones, reaping of lost leases.

-- require constants
-- require admission
-- require endings
-- require limits
-- require callbacks

-- When a worker's call last swept; calls that do not sweep follow within 20 ms of one that does.
-- `walk` is the position up to which waits were shortened after a pause, in which the clock may have been set back; '' if all were.
-- It is a position of `delayed`, and then `<position of the receivers of callbacks> <position of one's deliveries> <receiver>`.
local saved_grace, saved_walk = unpack(call('HMGET', META, 'grace', 'walk'))
local seen, grace, walk, given_settings = tonumber(saved_seen or NOW), tonumber(saved_grace or 0), saved_walk or '', nil

-- Begins a worker's call, or maintenance by another program, which has no settings and keeps the saved ones. The first command is
-- one that Redis allows when its memory is full.
local function start_worker_call(worker_settings)
  begin()
  if NOW < seen or NOW > seen + 3000 then
    -- No worker could call for a while, so every lease gets a full term before any is reaped.
    grace = NOW + lease_ms
    -- If the clock was set back, the ends of leases and of waits and the next starts of rated keys would be far in the future.
    for _, id in ipairs(call('ZRANGEBYSCORE', LEASE, '(' .. whole(grace), '+inf')) do call('ZADD', LEASE, grace, id) end
    for _, key in ipairs(call('ZRANGEBYSCORE', PACED, '(' .. now, '+inf')) do limits().pace(key) end
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
local function shorten_delays()
  local position, found = unpack(call('ZSCAN', INDEX.delayed, walk, 'COUNT', '256'))
  for i = 1, #found, 2 do
    local wait = tonumber(call('HGET', P .. 'job:' .. found[i], 'wait') or nil)
    local job = wait and found[i + 1] - NOW > wait and read(found[i])
    if job and job.state == 'delayed' then to_delayed(job, NOW + wait, wait) end
  end
  walk = position ~= '0' and position or '0 0 '
end

-- Shortens the waits of some callbacks. The receivers at one position are taken in the order of their names.
local function shorten_callbacks()
  local position, inner, current = string.match(walk, '^(%d+) (%d+) (.*)$')
  local following, found = unpack(call('ZSCAN', CALLBACKS, position, 'COUNT', '16'))
  local hosts, budget = {}, 256
  for i = 1, #found, 2 do
    if found[i] >= current then hosts[#hosts + 1] = found[i] end
  end
  table.sort(hosts)
  if hosts[1] ~= current then inner = '0' end
  for _, host in ipairs(hosts) do
    repeat
      if budget <= 0 then
        walk = position .. ' ' .. inner .. ' ' .. host
        return
      end
      local next_inner, count = callbacks().shorten_waits(host, inner)
      inner, budget = next_inner, budget - count - 4
    until inner == '0'
  end
  walk = following ~= '0' and following .. ' 0 ' or ''
end

local has_swept = false

-- Expires, promotes, unparks and reaps, each within its bound. Returns whether more remains of the first two.
local function sweep_all()
  local more = sweep(EXPIRING, '64', expire, 'waiting', 'delayed')
  more = sweep(INDEX.delayed, '64', promote, 'delayed') or more
  for _, key in ipairs(call('ZRANGEBYSCORE', PACED, '-inf', now, 'LIMIT', '0', '64')) do limits().unpark_paced(key) end
  if NOW >= grace then sweep(LEASE, '16', reap, 'running') end
  if string.find(walk, ' ') then
    shorten_callbacks()
  elseif walk ~= '' then
    shorten_delays()
  end
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
