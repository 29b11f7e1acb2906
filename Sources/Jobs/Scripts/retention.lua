-- Part of the scripts that change jobs: how long terminal jobs, finished callbacks and aliases are kept.

-- Appends the keys of a job that is to be deleted to a list, because one DEL for many jobs costs less than one for each. A
-- terminal job has no commit record any more.
local function add_keys(keys, id, state)
  local n = #keys
  keys[n + 1], keys[n + 2], keys[n + 3], keys[n + 4] = P .. 'job:' .. id, P .. 'spec:' .. id, P .. 'result:' .. id, P .. 'log:' .. id
  if not TERMINAL[state] then keys[n + 5] = P .. 'commit:' .. id end
end

local periods = {}

-- How many jobs of a terminal state (or finished callbacks for `called`, or aliases for `alias`) are kept, for how many ms,
-- and the time to live of their keys in ms.
local function retention(state)
  local words = periods[state]
  if not words then
    local all = settings .. ' ' .. DEFAULT_RETENTION .. ' alias 100000 604800000'
    local count, age = string.match(all, state .. ' (%d+) (%d+)')
    words = { tonumber(count), tonumber(age), whole(age + 86400000) }
    periods[state] = words
  end
  return unpack(words)
end

-- The score of an entry that ends now.
local function stamp() return whole(NOW * 1024 + events % 1024) end

-- The entries of an index over the count or the age: the oldest first, at most 100.
local function surplus(set, state)
  local count, age = retention(state)
  local excess = call('ZCARD', set) - count
  if excess > 0 then return call('ZRANGE', set, '0', whole(math.min(excess, 100) - 1)) end
  return call('ZRANGEBYSCORE', set, '-inf', whole(math.max(0, NOW - age) * 1024), 'LIMIT', '0', '100')
end

-- Deletes jobs over the count or the age, with their index entries and keys.
function trim(state)
  local set = INDEX[state]
  local old = surplus(set, state)
  if #old > 0 then
    call('ZREM', set, unpack(old))
    local keys = {}
    for _, id in ipairs(old) do
      local group = has_groups and call('HGET', P .. 'job:' .. id, 'group')
      if group then groups().remove(id, group) end
      add_keys(keys, id, state)
    end
    call('DEL', unpack(keys))
  end
end

-- `trim` deletes jobs that have ended. The spec of such a job also has a time to live, for it may hold a secret of a URL, which
-- must not stay for as long as no script trims. Every 8th end asks for a trim, which deletes up to 100 jobs.
local function expire_spec(id, state)
  local _, _, ttl = retention(state)
  call('PEXPIRE', P .. 'spec:' .. id, ttl)
  if events % 8 == 0 then to_trim[state] = true end
  return ttl
end
