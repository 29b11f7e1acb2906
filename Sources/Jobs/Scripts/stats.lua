-- A queue at a glance.
--
-- KEYS     the queue's `meta`; the other keys follow from it (see meta.lua).
-- ARGV     none.
-- Answers  {queued, waiting, delayed, running, completed, failed, cancelled, 1 if paused, ms since the oldest job that
--          can run became ready or -1 (of the first 16 of each priority), then what happened in the last minute, hour and day: three times
--          {pushed, completed, failed, cancelled, retries, crashes}}.

-- require base

local answer = { call('XLEN', IN) }
local function pushed(id) return tonumber(string.match(id, '^%d+')) end
local oldest = NOW + 1
local bell_id = string.match(bell, '^%S+')
-- One by one, for an entry may be large.
local first = call('XRANGE', IN, '-', '+', 'COUNT', 1)[1]
if first and first[1] == bell_id then first = call('XRANGE', IN, '(' .. bell_id, '+', 'COUNT', 1)[1] end
if first then oldest = math.min(oldest, pushed(first[1])) end
if bell_id and #call('XRANGE', IN, bell_id, bell_id) == 1 then answer[1] = answer[1] - 1 end
for i, state in ipairs({ 'waiting', 'delayed', 'running', 'completed', 'failed', 'cancelled' }) do
  answer[i + 1] = call('ZCARD', INDEX[state])
end
answer[2] = answer[2] + call('ZCARD', PARKED)
for rank = 0, 2 do
  for _, id in ipairs(call('ZRANGEBYSCORE', READY, whole(rank * BAND), '(' .. whole((rank + 1) * BAND), 'LIMIT', 0, 16)) do
    local f = call('HMGET', P .. 'job:' .. id, 'ready', 'created')
    oldest = math.min(oldest, tonumber(f[1] or f[2] or pushed(id)))
  end
end
answer[8] = paused and 1 or 0
answer[9] = oldest <= NOW and NOW - oldest or -1

-- The sum of the newest counts of a kind; of the oldest only as much as lies within the time.
local function sum(kind, ms, number)
  local total = { 0, 0, 0, 0, 0, 0 }
  local newest = math.floor(NOW / ms)
  for age = 0, number do
    local found = call('HMGET', P .. kind .. newest - age, 'pushed', 'completed', 'failed', 'cancelled', 'retries', 'crashes')
    local share = age < number and 1 or 1 - NOW % ms / ms
    for i = 1, 6 do total[i] = total[i] + share * (tonumber(found[i] or 0)) end
  end
  for i = 1, 6 do total[i] = math.floor(total[i] + 0.5) end
  return total
end

answer[10], answer[11] = sum('stats:', 60000, 1), sum('stats:', 60000, 60)
answer[12] = sum('stats:hour:', 3600000, 24)
return answer
