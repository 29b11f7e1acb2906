-- A queue at a glance.
--
-- Answers  {queued, waiting, delayed, running, completed, failed, cancelled, 1 if paused, ms since the oldest job that
--          could run was pushed or -1}.

local answer = { call('XLEN', IN) }
local function pushed(id) return tonumber(string.match(id, '^%d+')) end
local oldest = NOW + 1
local bell_id = string.match(bell, '^%S+')
local first = call('XRANGE', IN, '-', '+', 'COUNT', 2)
for i = 1, #first do
  if first[i][1] ~= bell_id then oldest = math.min(oldest, pushed(first[i][1])) end
end
if bell_id and #call('XRANGE', IN, bell_id, bell_id) == 1 then answer[1] = answer[1] - 1 end
for i, state in ipairs({ 'waiting', 'delayed', 'running', 'completed', 'failed', 'cancelled' }) do
  answer[i + 1] = call('ZCARD', INDEX[state])
end
answer[2] = answer[2] + call('ZCARD', PARKED)
for rank = 0, 2 do
  local next_up = call('ZRANGEBYSCORE', READY, whole(rank * BAND), '(' .. whole((rank + 1) * BAND), 'LIMIT', 0, 1)[1]
  if next_up then oldest = math.min(oldest, tonumber(call('HGET', P .. 'job:' .. next_up, 'created') or pushed(next_up))) end
end
answer[8] = paused and 1 or 0
answer[9] = oldest <= NOW and NOW - oldest or -1
return answer
