-- Takes deliveries that are due, two of one receiver at once over all senders, the longest due receiver first.
--
-- KEYS     the queue's `meta`; the other keys follow from it (see meta.lua).
-- ARGV     token, how many at most, for how many ms they are the sender's.
-- Answers  a list for each: {id, try, `job` or `group`, its name, what is told, URL, when it ended in ms, hash (JSON), spec
--          (JSON), result (JSON), now in ms}; spec and result are empty for a group, and the result for a job without one.
--          The same token gets the same deliveries again, but those that are no longer its.

-- require base
-- require callbacks

local token, count, term = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local answer, taken = {}, {}

local function read_delivery(id)
  return call('HMGET', P .. 'callback:' .. id, 'attempt', 'job', 'group', 'what', 'url', 'at', 'hash', 'spec', 'result', 'token',
    'log')
end

local function hand_over(id, attempt, f)
  answer[#answer + 1] = {
    id, attempt, f[2] and 'job' or 'group', f[2] or f[3], f[4], f[5], f[6], f[7] or '[]', f[8] or '', f[9] or '', NOW,
  }
end

local once = P .. 'once:' .. token
local given = call('GET', once)
if given then
  for id in string.gmatch(given, '%S+') do
    local f = read_delivery(id)
    if f[10] == token then hand_over(id, f[1], f) end
  end
  return answer
end

-- Answers whether it is there.
local function take(id, host)
  local key, f = P .. 'callback:' .. id, read_delivery(id)
  if not f[5] then return false end
  local attempt = (f[1] or 0) + 1
  if f[10] then call('HSET', key, 'log', callbacks().logged(f[11], 'the sender was lost before it could tell what came of it')) end
  call('HSET', key, 'attempt', attempt, 'token', token)
  call('ZADD', P .. 'callbacks:' .. host, NOW + term, id)
  call('SADD', P .. 'calling:' .. host, id)
  hand_over(id, attempt, f)
  taken[#taken + 1] = id
  return true
end

local function look(host)
  local waiting, calling = P .. 'callbacks:' .. host, P .. 'calling:' .. host
  for _, id in ipairs(call('SMEMBERS', calling)) do
    if tonumber(call('ZSCORE', waiting, id) or 0) <= NOW then call('SREM', calling, id) end
  end
  local room = math.min(callbacks().MOST_AT_ONCE - call('SCARD', calling), count - #answer)
  if room > 0 then
    for _, id in ipairs(call('ZRANGEBYSCORE', waiting, '-inf', NOW, 'LIMIT', 0, room)) do
      if not take(id, host) then call('ZREM', waiting, id) end
    end
  end
  callbacks().appoint(host)
end

begin()
for _, host in ipairs(call('ZRANGEBYSCORE', CALLBACKS, '-inf', NOW, 'LIMIT', 0, 64)) do
  if #answer >= count then break end
  look(host)
end
if #taken > 0 then call('SET', once, table.concat(taken, ' '), 'PX', term) end
return answer
