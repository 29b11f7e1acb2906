-- Ends one try of a delivery.
--
-- KEYS     the queue's `meta`; the other keys follow from it (see meta.lua).
-- ARGV     id, token, `delivered`, `failed` (for good) or `again`, HTTP status or `-`, ms that it took, a sentence or '', ms
--          that the receiver asks to wait or '', a random number from 0 to 1.
-- Answers  `delivered`, `failed`, `waiting <when it is due, in ms since 1970>`, or `STALE` if the delivery is not the token's.
--          The same token gets the same answer again.

-- require base
-- require callbacks

local id, token, outcome, wait = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[7])
local key = P .. 'callback:' .. id
local f = call('HMGET', key, 'token', 'receiver', 'attempt', 'log', 'settled')
local given = answered(f[5], token)
if given then return given end
if f[1] ~= token then return 'STALE' end
local waiting, attempt, answer, due = P .. 'callbacks:' .. f[2], tonumber(f[3]), outcome, nil
if outcome == 'again' then
  answer = 'failed'
  if attempt < callbacks().MOST_TRIES then
    local usual = math.min(7200000, 5000 * 2 ^ (attempt - 1)) * (1 + ARGV[8]) / 2
    -- Who asks for short waits again and again would use up the tries of a day in seconds.
    if wait and attempt > 1 then wait = math.max(wait, usual) end
    due = whole(math.floor(NOW + math.min(wait or usual, 7200000)))
    answer = 'waiting ' .. due
  end
end
begin()
call('SREM', P .. 'calling:' .. f[2], id)
call('HDEL', key, 'token')
call('HSET', key, 'log', callbacks().logged(f[4], ARGV[6], ARGV[4], ARGV[5]), 'settled', token .. ' ' .. answer)
if due then
  call('ZADD', waiting, due, id)
else
  call('ZREM', waiting, id)
  callbacks().conclude(id, answer)
end
callbacks().appoint(f[2])
return answer
