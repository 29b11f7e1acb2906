-- Finishes one attempt of a delivery.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     id, token, `delivered`, `failed` (no retry), `again` or `released` (it was not sent, which is no attempt), HTTP status
--          or `-`, duration in ms, a sentence or '', ms that the receiver asks to wait or '', a random number from 0 to 1.
-- Answers  `delivered`, `failed`, `waiting <when it is due, in ms since 1970>`, or `STALE` if the token does not own the
--          delivery. The same token gets the same answer again.

-- require base
-- require callbacks

local id, token, outcome, status, took, sentence, wanted, random = unpack(ARGV)
local key = P .. 'callback:' .. id
local owner, receiver, attempts, log, ended = unpack(call('HMGET', key, 'token', 'receiver', 'attempt', 'log', 'replay'))
local given = answered(ended, token)
if given then return given end
if owner ~= token then return 'STALE' end
local waiting, attempt, wait, answer, delay = P .. 'callbacks:' .. receiver, tonumber(attempts), tonumber(wanted), outcome, nil
-- Another sender may be able to send it, or the same one soon.
local RELEASE_MS = 1000
if outcome == 'released' then
  delay = RELEASE_MS
elseif outcome == 'again' then
  answer = 'failed'
  if attempt < callbacks().MAX_CALLBACK_ATTEMPTS then
    local usual = math.min(7200000, 5000 * 2 ^ (attempt - 1)) * (1 + random) / 2
    -- A receiver that repeatedly asks for short waits would use up a day's attempts in seconds.
    if wait and attempt > 1 then wait = math.max(wait, usual) end
    delay = math.floor(math.min(wait or usual, 7200000))
  end
end
if delay then answer = 'waiting ' .. whole(NOW + delay) end
begin()
call('SREM', P .. 'calling:' .. receiver, id)
call('HDEL', key, 'token')
if outcome == 'released' then
  call('HSET', key, 'attempt', attempt - 1)
else
  call('HSET', key, 'log', callbacks().logged(log, sentence, status, took))
end
call('HSET', key, 'replay', token .. ' ' .. answer)
if delay then
  call('HSET', key, 'wait', delay)
  call('ZADD', waiting, NOW + delay, id)
else
  call('ZREM', waiting, id)
  callbacks().conclude(id, answer)
end
callbacks().schedule_receiver(receiver)
return answer
