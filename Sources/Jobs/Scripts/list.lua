-- A page of the ids in one state except `queued`: waiting jobs in the order in which they run, delayed ones by due time,
-- terminal ones with the latest first.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     state (`parked`: waiting jobs whose `limit_key` has no free permit), maximum number (1,000), and the score and id of
--          the last job that was listed, or '' and ''.
-- Answers  {score, id, …}; fewer than requested only at the end.

local state, most, last_score, last_id = unpack(ARGV)
local limit = tonumber(most)
local set, is_terminal = state == 'parked' and P .. 'parked' or INDEX[state], TERMINAL[state]
local start = 0
if last_id ~= '' then
  local rank = call(is_terminal and 'ZREVRANK' or 'ZRANK', set, last_id)
  if rank then
    start = rank + 1
  elseif is_terminal then
    start = call('ZCOUNT', set, '(' .. last_score, '+inf')
  else
    start = call('ZCOUNT', set, '-inf', '(' .. last_score)
  end
end
local answer = {}
local found = call(is_terminal and 'ZREVRANGE' or 'ZRANGE', set, start, start + limit - 1, 'WITHSCORES')
for i = 1, #found, 2 do
  answer[#answer + 1] = found[i + 1]
  answer[#answer + 1] = found[i]
end
return answer
