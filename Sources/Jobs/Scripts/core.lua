-- Part of the scripts that change jobs: numbers, counts, events and changes of the indexes. `claim` and `finish` need little more
-- for a usual job, so they create the functions of `base` only if there is another one.

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

-- Adds counts to a hash, which is kept for so many ms after its first.
local function add_counts(key, counts, ms)
  for what, number in pairs(counts) do
    -- Redis may refuse the command, for example while a cluster slot moves. A lost count is better than an interrupted
    -- transition, so errors are ignored. Only the first increment of a field sets the key's time to live.
    if redis.pcall('HINCRBY', key, what, number) == number then call('PEXPIRE', key, ms) end
  end
end

-- The counts of a minute are kept for two hours, those of an hour for 31 days.
local function save_counts()
  local has_counts = next(counted)
  if has_counts then add_counts(P .. 'stats:' .. math.floor(NOW / 60000), counted, '7200000') end
  if not has_counts and not next(waits) then return end
  local hour = P .. 'stats:hour:' .. math.floor(NOW / 3600000)
  add_counts(hour, counted, '2678400000')
  add_counts(hour, waits, '2678400000')
end

-- Redis trims the stream in nodes of a hundred entries, so only every 16th XADD asks for it.
local function event(id, state, ...)
  events = events + 1
  if events % 16 == 0 then
    local cap = string.match(settings, '^%d+ %d+ (%d+)')
    call('XADD', EVENTS, 'MAXLEN', '~', cap, '*', 'n', whole(events), 'id', id, 'state', state, ...)
  else
    call('XADD', EVENTS, '*', 'n', whole(events), 'id', id, 'state', state, ...)
  end
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

-- Every script that changes the queue ends with this call.
local function save(...)
  for state in pairs(to_trim) do trim(state) end
  for name in pairs(closing) do groups().close(name) end
  if seq then
    call('HSET', META, 'event', whole(events), 'bell', bell, 'seq', whole(seq), ...)
  else
    call('HSET', META, 'event', whole(events), 'bell', bell, ...)
  end
  save_counts()
end
