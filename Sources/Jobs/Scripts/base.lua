-- Part of every script: the clock, the queue's meta, and the one place where a job changes its state.
--
-- KEYS[1]  the queue's `meta`. It always exists, so a cluster can route by it. All other keys have its prefix and hash tag;
--          they cannot be declared, for a job's id is known only once an index was read.
-- Swift puts DEFAULT_SETTINGS, FIELDS, PLANNED and the limits in front.

local call = redis.call
local META = KEYS[1]
local P = string.sub(META, 1, -5)
local IN, READY, LEASE, LIVE, PARKED = P .. 'in', P .. 'ready', P .. 'lease', P .. 'live', P .. 'parked'
local EXPIRING, EVENTS = P .. 'expiring', P .. 'events'
-- While a cluster moves the slot to another node, a key that is not there raises an error, and keys go one after the other:
-- asked for one that never is, so that a script fails before it has written anything, and is called again.
call('EXISTS', P .. '-')
local clock = call('TIME')
local NOW = clock[1] * 1000 + math.floor(clock[2] / 1000)
local BAND = 2 ^ 44 -- ready's score is priority · BAND + sequence

local meta = call('HMGET', META, 'seq', 'event', 'bell', 'paused', 'settings', 'seen', 'grace')
local seq, events, bell, paused = tonumber(meta[1] or 0), tonumber(meta[2] or 0), meta[3] or '', meta[4] and true
local settings = meta[5] or DEFAULT_SETTINGS
local lease_ms, max_crashes, events_cap, backoff_base, backoff_cap, retry_after_cap =
  string.match(settings, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+)')
lease_ms, max_crashes = tonumber(lease_ms), tonumber(max_crashes)

local INDEX = {
  waiting = READY, delayed = P .. 'delayed', running = LEASE,
  completed = P .. 'done', failed = P .. 'failed', cancelled = P .. 'cancelled',
}

-- What callbacks.lua, groups.lua and limits.lua say to it, which follow.
local tally, forget, close, closing, is_full, step_out, step_in, announce

-- A command that Redis allows when its memory is full; as a script's first one it opens the way for all that follow.
local function begin() call('HDEL', META, '-') end

-- `..` would round numbers of more than 14 digits, and both it and a command's argument take twice the time of `%d`, whose
-- numbers have only 32 bits where Redis is built for that.
local INTEGER = string.format('%d', BAND) == '17592186044416' and '%d' or '%.0f'
local function whole(number) return string.format(INTEGER, number) end

-- What happened in this script, by what it is called in the counts of the minute and of the hour.
local counted = {}

local function note(what) counted[what] = (counted[what] or 0) + 1 end

-- A minute's counts are kept for two hours, an hour's for eight days.
local function save_counts()
  for what, number in pairs(counted) do
    for key, ms in pairs({ [P .. 'stats:' .. math.floor(NOW / 60000)] = 7200000,
      [P .. 'stats:hour:' .. math.floor(NOW / 3600000)] = 691200000 }) do
      -- A count is not worth a half transition, should Redis refuse it: in a slot that moves, say. Only the first of its
      -- kind must give the key its time to live.
      if redis.pcall('HINCRBY', key, what, number) == number then call('PEXPIRE', key, ms) end
    end
  end
end

local function event(id, state, ...)
  events = events + 1
  call('XADD', EVENTS, 'MAXLEN', '~', events_cap, '*', 'n', whole(events), 'id', id, 'state', state, ...)
end

-- Every script that changed something ends with this.
local function save(...)
  for name in pairs(closing) do close(name) end
  call('HSET', META, 'seq', whole(seq), 'event', whole(events), 'bell', bell, ...)
  save_counts()
end

local function read(id)
  local f = call('HGETALL', P .. 'job:' .. id)
  local job = { id = id, state = nil, score = nil, attempt = 0, attempts = 5, crashes = 0, token = nil }
  for i = 1, #f, 2 do job[f[i]] = f[i + 1] end
  if not job.state then return nil end
  job.attempt, job.attempts, job.crashes = tonumber(job.attempt), tonumber(job.attempts), tonumber(job.crashes)
  job.expires, job.deadline, job.limit = tonumber(job.expires), tonumber(job.deadline), job.limit_key
  return job
end

-- What a token was told when its try ended, of `<token> <answer>`; nothing if that was another's.
local function answered(ended, token)
  return ended and string.sub(ended, 1, #token + 1) == token .. ' ' and string.sub(ended, #token + 2) or nil
end

-- The id of the job that a pushed duplicate stands for.
local function resolve(id)
  return call('GET', P .. 'alias:' .. id) or id
end

-- When a job that does not run fails as expired. What a lost worker may have published is looked at first, by the next one.
local function last_moment(job)
  if job.commit then return nil end
  local start = not job.token and job.expires
  return start and math.min(start, job.deadline or start) or job.deadline
end

-- Moves a job from the index of its old state (none, if it is new) to that of the new one; `...` are fields of its hash.
-- A job that waits is parked while its key has no place left. Begins with a removal, which Redis allows when its memory is
-- full.
local function move(job, state, score, ...)
  local old, was_parked = job.state, job.parked
  if old then call('ZREM', was_parked and PARKED or INDEX[old], job.id) end
  local was = old == 'waiting' and not was_parked or old == 'running'
  if job.limit then
    step_out(job)
    job.parked = state == 'waiting' and is_full(job.limit)
  end
  local is = state == 'waiting' and not job.parked or state == 'running'
  if was and not is then call('SREM', LIVE, job.id) end
  if is and not was then call('SADD', LIVE, job.id) end
  call('ZADD', job.parked and PARKED or INDEX[state], score, job.id)
  call('HSET', P .. 'job:' .. job.id, 'state', state, ...)
  if job.expires or job.deadline then
    local last = (state == 'waiting' or state == 'delayed') and last_moment(job)
    if last then call('ZADD', EXPIRING, last, job.id) else call('ZREM', EXPIRING, job.id) end
  end
  if job.group then tally(job, old, state) end
  job.state = state
  if job.limit then step_in(job, score, was, was_parked) end
end

local function to_waiting(job, ...)
  move(job, 'waiting', job.score, ...)
  event(job.id, 'waiting')
end

local function to_delayed(job, due, ...)
  move(job, 'delayed', due, 'due', due, ...)
  event(job.id, 'delayed', 'due', due)
end

local function erase(ids)
  local doomed = {}
  for _, id in ipairs(ids) do
    for _, kind in ipairs({ 'job:', 'spec:', 'result:', 'log:', 'commit:' }) do
      doomed[#doomed + 1] = P .. kind .. id
    end
  end
  call('DEL', unpack(doomed))
end

local kept = {}

-- How many jobs of a terminal state (or of `called`, callbacks that are over, or of `alias`) are kept, and for how many ms.
local function retention(state)
  local count, age = kept[state], kept[state .. ' age']
  if not count then
    local all = settings .. ' ' .. DEFAULT_SETTINGS .. ' alias 100000 604800000'
    count, age = string.match(all, state .. ' (%d+) (%d+)')
    count, age = tonumber(count), tonumber(age)
    kept[state], kept[state .. ' age'] = count, age
  end
  return count, age
end

-- The score of what is over now.
local function stamp() return whole(NOW * 1024 + events % 1024) end

-- What of an index is over the count or the age: the oldest first, at most 100.
local function surplus(set, state)
  local count, age = retention(state)
  local excess = call('ZCARD', set) - count
  if excess > 0 then return call('ZRANGE', set, 0, math.min(excess, 100) - 1) end
  return call('ZRANGEBYSCORE', set, '-inf', whole((NOW - age) * 1024), 'LIMIT', 0, 100)
end

-- Deletes what of an index is over the count or the age, and its keys, which begin with the prefix.
local function let_go(set, kind, prefix)
  for _, old in ipairs(surplus(set, kind)) do
    call('ZREM', set, old)
    call('DEL', P .. prefix .. old)
  end
end

-- Deletes jobs over the count or the age, index and hash together.
local function trim(state)
  local set = INDEX[state]
  local old = surplus(set, state)
  if #old > 0 then
    call('ZREM', set, unpack(old))
    for _, id in ipairs(old) do
      local group = call('HGET', P .. 'job:' .. id, 'group')
      if group then forget(id, group) end
    end
    erase(old)
  end
end

-- Ends a job for good. The keys' time to live is only the backstop of `trim`, which must still find a job's group.
local function retire(job, state, ...)
  local is_first_try = job.state == 'running' and string.sub(job.token, 1, 2) == '1:'
  move(job, state, stamp(), 'finished', whole(NOW), ...)
  note(state)
  local id, key = job.id, P .. 'job:' .. job.id
  if job.cancel or job.commit then
    call('HDEL', key, 'cancel', 'commit')
    call('DEL', P .. 'commit:' .. id)
  end
  if job.dedup and call('GET', P .. 'dedup:' .. job.dedup) == id then call('DEL', P .. 'dedup:' .. job.dedup) end
  local _, age = retention(state)
  local ttl = whole(age + 86400000)
  if not job.group then call('PEXPIRE', key, ttl) end
  call('PEXPIRE', P .. 'spec:' .. id, ttl)
  -- Only an earlier try can have left a log.
  if job.token and not is_first_try then call('PEXPIRE', P .. 'log:' .. id, ttl) end
  if job.callback then announce(job) end
  return ttl
end

local function fail(job, code, message, retryable, ...)
  local ttl = retire(job, 'failed', 'error_code', code, 'error', string.sub(message, 1, 1024), 'retryable', retryable, ...)
  event(job.id, 'failed', 'code', code)
  return ttl
end

local function cancel(job, ...)
  local ttl = retire(job, 'cancelled', ...)
  event(job.id, 'cancelled')
  return ttl
end

-- Charges a crash and gives the try back; answers the job's new state. `back` puts the job where it tries again.
local function crash(job, code, message, back, ...)
  job.crashes, job.attempt = job.crashes + 1, math.max(job.attempt - 1, 0)
  note('crashes')
  if job.cancel then return cancel(job, 'crashes', job.crashes, 'attempt', job.attempt, ...) end
  if job.crashes >= max_crashes then
    return fail(job, code, message, 1, 'crashes', job.crashes, 'attempt', job.attempt, ...)
  end
  back(job, 'crashes', job.crashes, 'attempt', job.attempt, 'error_code', code,
    'error', string.sub(message, 1, 1024), 'retryable', 1, ...)
end

-- After an id that somebody chose far ahead all later ones would follow it, and after the greatest there could be none. So
-- an empty inbox is made anew; Redis 8 lets nobody set its last id back.
local function reset_ids()
  if call('XLEN', IN) > 0 then return end
  call('DEL', IN)
  call('XGROUP', 'CREATE', IN, 'bell', 0, 'MKSTREAM')
end

-- Takes the bell away, if one hangs.
local function answer_bell()
  local id = string.match(bell, '^%S+')
  if id then call('XDEL', IN, id) end
  bell = ''
end

-- Leaves one bell in the inbox if there is something to claim; whoever claims takes it away. It is an entry that stays: one
-- that is added and deleted in the same script wakes every waiting worker, and none that comes a moment later. After a
-- second every worker has looked by itself, so an older bell was lost on the way.
local function ring()
  if paused then return end
  local age = NOW - (string.match(bell, '%d+$') or 0)
  if bell ~= '' and age >= 0 and age < 1000 or call('ZCARD', READY) == 0 then return end
  answer_bell()
  local rung = redis.pcall('XADD', IN, '*', '_bell', '1')
  if type(rung) == 'string' then bell = rung .. ' ' .. NOW else reset_ids() end
end
