-- Part of every script: the only code that changes a job's state.

-- A command that Redis allows when its memory is full. If a script's first write is such a command, Redis allows all that
-- follow.
local function begin() call('HDEL', META, '-') end

-- The digits of a whole number from 0. `..` would round numbers of more than 14 digits. Formatting is expensive compared with
-- the rest of a transition, so the leading digits are cached: most numbers of a script differ only in the last digit.
local heads, char = { [0] = '' }, string.char
-- `%d` formats only 32 bits in some builds of Redis.
local INTEGER = string.format('%d', BAND) == '17592186044416' and '%d' or '%.0f'
local function whole(number)
  local last = number % 10
  local rest = (number - last) / 10
  local head = heads[rest]
  if not head then
    head = string.format(INTEGER, rest)
    heads[rest] = head
  end
  return head .. char(48 + last)
end

-- Counts of this script's events, by their name in the statistics of the minute and of the hour; and of the waiting times of the
-- jobs that it started, in those of the hour alone.
local counted, waits = {}, {}

local function note(what) counted[what] = (counted[what] or 0) + 1 end

-- The counts of a minute are kept for two hours, those of an hour for 31 days.
local function save_counts()
  if not next(counted) and not next(waits) then return end
  local minute, hour = P .. 'stats:' .. whole(math.floor(NOW / 60000)), P .. 'stats:hour:' .. whole(math.floor(NOW / 3600000))
  for _, line in ipairs({ { minute, counted, '7200000' }, { hour, counted, '2678400000' }, { hour, waits, '2678400000' } }) do
    local key, counts, ms = unpack(line)
    for what, number in pairs(counts) do
      -- Redis may refuse the command, for example while a cluster slot moves. A lost count is better than an interrupted
      -- transition, so errors are ignored. Only the first increment of a field sets the key's time to live.
      if redis.pcall('HINCRBY', key, what, whole(number)) == number then call('PEXPIRE', key, ms) end
    end
  end
end

-- Redis trims the stream in nodes of a hundred entries, so only every 16th XADD asks for it.
local function event(id, state, ...)
  events = events + 1
  if events % 16 == 0 then
    call('XADD', EVENTS, 'MAXLEN', '~', events_cap, '*', 'n', whole(events), 'id', id, 'state', state, ...)
  else
    call('XADD', EVENTS, '*', 'n', whole(events), 'id', id, 'state', state, ...)
  end
end

-- The event of a job whose fields are known; it names the job's group and the trace that it belongs to.
local function job_event(job, state, ...)
  local group, parent = job.group, job.traceparent
  if group and parent then
    event(job.id, state, 'group', group, 'traceparent', parent, ...)
  elseif group or parent then
    event(job.id, state, group and 'group' or 'traceparent', group or parent, ...)
  else
    event(job.id, state, ...)
  end
end

-- Every script that changes the queue ends with this call.
local function save(...)
  for state in pairs(to_trim) do endings().trim(state) end
  for name in pairs(closing) do groups().close(name) end
  call('HSET', META, 'seq', whole(seq), 'event', whole(events), 'bell', bell, ...)
  save_counts()
end

local function read(id)
  local key = P .. 'job:' .. id
  local f = call('HGETALL', key)
  -- Preallocates the fields of a terminal job, because growing the table repeatedly is slow.
  local job = {
    id = id, key = key, state = nil, score = nil, attempt = 0, attempts = 5, crashes = 0, token = nil, worker = nil,
    started = nil, phase = nil, progress = nil, ended = nil, finished = nil,
  }
  for i = 1, #f, 2 do job[f[i]] = f[i + 1] end
  if not job.state then return nil end
  job.attempt, job.attempts, job.crashes = job.attempt + 0, job.attempts + 0, job.crashes + 0
  if job.expires then job.expires = job.expires + 0 end
  if job.deadline then job.deadline = job.deadline + 0 end
  return job
end

-- The answer that was stored for a token when its attempt ended, as `<token> <answer>`; `nil` if it belongs to another token.
local function answered(ended, token)
  return ended and string.sub(ended, 1, #token + 1) == token .. ' ' and string.sub(ended, #token + 2) or nil
end

-- The id of the job that a duplicate's id is an alias of, or the id itself.
local function resolve(id)
  return call('GET', P .. 'alias:' .. id) or id
end

-- When a job that is not running fails as expired. `nil` while a commit record exists: the next owner first checks whether the
-- lost worker published the result.
local function last_moment(job)
  if job.commit then return nil end
  local start = not job.token and job.expires
  return start and math.min(start, job.deadline or start) or job.deadline
end

-- Pending changes to the indexes, by key; see `apply`.
local removals, additions, live_adds, live_removals, is_batch = {}, {}, {}, {}, false

local function add(lists, key, first, second)
  local list = lists[key]
  if list then
    list[#list + 1] = first
    if second then list[#list + 1] = second end
  else
    lists[key] = { first, second }
  end
end

-- Applies the index changes that `move` collected. A script that moves many jobs sets `is_batch`, and calls this once for all
-- of them and before each read of an index. Removals come first, because Redis allows them when its memory is full.
local function apply()
  for key, ids in pairs(removals) do call('ZREM', key, unpack(ids)) end
  if live_removals[1] then call('SREM', LIVE, unpack(live_removals)) end
  if live_adds[1] then call('SADD', LIVE, unpack(live_adds)) end
  for key, scored in pairs(additions) do call('ZADD', key, unpack(scored)) end
  removals, additions, live_adds, live_removals = {}, {}, {}, {}
end

-- Moves a job from the index of its old state (none if it is new) to that of the new one; `...` are fields of its hash. A
-- waiting job is parked while its `limit_key` has no free permit.
local function move(job, state, score, ...)
  local id, old, was_parked = job.id, job.state, job.parked
  if old then add(removals, was_parked and PARKED or INDEX[old], id) end
  local was = old == 'waiting' and not was_parked or old == 'running'
  if job.limit_key then
    limits().step_out(job)
    job.parked = state == 'waiting' and limits().is_full(job.limit_key)
  end
  local is = state == 'waiting' and not job.parked or state == 'running'
  if was and not is then live_removals[#live_removals + 1] = id end
  if is and not was then live_adds[#live_adds + 1] = id end
  add(additions, job.parked and PARKED or INDEX[state], score, id)
  -- Limits read the indexes.
  if job.limit_key or not is_batch then apply() end
  call('HSET', job.key, 'state', state, ...)
  if job.expires or job.deadline then
    local last = (state == 'waiting' or state == 'delayed') and last_moment(job)
    if last then call('ZADD', EXPIRING, last, id) else call('ZREM', EXPIRING, id) end
  end
  if job.group then groups().tally(job, old, state) end
  job.state = state
  if job.limit_key then limits().step_in(job, score, was, was_parked) end
end

local function to_waiting(job, ...)
  if job.state then
    move(job, 'waiting', job.score, 'ready', job.state == 'delayed' and math.min(job.due, NOW) or now, ...)
  else
    -- A new job has been ready since it was pushed.
    move(job, 'waiting', job.score, ...)
  end
  job_event(job, 'waiting')
end

-- Makes a job waiting behind all jobs of its priority.
local function to_tail(job, rank, ...)
  seq = seq + 1
  job.score = whole(rank * BAND + seq)
  to_waiting(job, 'score', job.score, ...)
end

-- Makes a delayed job ready. A job whose attempt failed goes behind newer ones, so that it does not delay them repeatedly.
local function promote(job)
  if not job.tail then return to_waiting(job) end
  call('HDEL', job.key, 'tail')
  to_tail(job, math.floor(job.score / BAND))
end

local function to_delayed(job, due, ...)
  move(job, 'delayed', due, 'due', due, ...)
  job_event(job, 'delayed', 'due', due)
end

-- A client can push an entry with an id far in the future. All later ids would follow it, and after the greatest id no entry
-- could be added. Redis 8 cannot set a stream's last id back, so an empty inbox is deleted and created again.
local function reset_ids()
  if call('XLEN', IN) > 0 then return end
  call('DEL', IN)
  call('XGROUP', 'CREATE', IN, 'bell', 0, 'MKSTREAM')
end

-- Removes the bell from the inbox, if there is one.
local function answer_bell()
  local id = string.match(bell, '^%S+')
  if id then call('XDEL', IN, id) end
  bell = ''
end

-- Leaves one bell entry in the inbox if there is something to claim; the worker that claims removes it. The entry has to stay:
-- one that is added and deleted in the same script wakes every waiting worker, but none that starts to wait a moment later.
-- Every worker polls after at most one second, so a bell older than that was lost and is replaced.
local function ring()
  if paused then return end
  local age = NOW - (string.match(bell, '%d+$') or 0)
  if bell ~= '' and age >= 0 and age < 1000 or call('ZCARD', READY) == 0 then return end
  answer_bell()
  local rung = redis.pcall('XADD', IN, '*', '_bell', '1')
  if type(rung) == 'string' then bell = rung .. ' ' .. NOW else reset_ids() end
end

-- require groups
-- require limits
