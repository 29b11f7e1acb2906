-- The statistics of a queue.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     none.
-- Answers  {queued, waiting, delayed, running, completed, failed, cancelled, 1 if paused, ms since the oldest job that can run
--          became ready or -1 (of the first 16 of each priority), then the counts of the last minute, hour and day: three times
--          {pushed, completed, failed, cancelled, retries, crashes}}.

-- require base

local queued = call('XLEN', IN)
local function pushed(id) return tonumber(string.match(id, '^%d+')) end
local oldest = NOW + 1
local bell_id = string.match(bell, '^%S+')
-- Reads one entry at a time, because an entry may be large.
local first = call('XRANGE', IN, '-', '+', 'COUNT', 1)[1]
if first and first[1] == bell_id then first = call('XRANGE', IN, '(' .. bell_id, '+', 'COUNT', 1)[1] end
if first then oldest = math.min(oldest, pushed(first[1])) end
if bell_id and #call('XRANGE', IN, bell_id, bell_id) == 1 then queued = queued - 1 end
for rank = 0, 2 do
  for _, id in ipairs(call('ZRANGEBYSCORE', READY, whole(rank * BAND), '(' .. whole((rank + 1) * BAND), 'LIMIT', 0, 16)) do
    local ready, created = unpack(call('HMGET', P .. 'job:' .. id, 'ready', 'created'))
    oldest = math.min(oldest, tonumber(ready or created or pushed(id)))
  end
end
-- The sum of the newest counts of a kind; the oldest count is weighted by the part of it that lies within the period.
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

local function size(state) return call('ZCARD', INDEX[state]) end

return {
  queued, size('waiting') + call('ZCARD', PARKED), size('delayed'), size('running'), size('completed'), size('failed'),
  size('cancelled'), paused and 1 or 0, oldest <= NOW and NOW - oldest or -1,
  sum('stats:', 60000, 1), sum('stats:', 60000, 60), sum('stats:hour:', 3600000, 24),
}
