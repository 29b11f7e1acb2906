-- Makes deliveries due now with a fresh count of attempts, including finished ones.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     ids, at most 500.
-- Answers  for each `due`, `sending`, `unknown`, or `lost` if its content was never stored.

-- require base
-- require callbacks

local function redeliver(id)
  local key = P .. 'callback:' .. id
  local receiver, owner, hash = unpack(call('HMGET', key, 'receiver', 'token', 'hash'))
  if not receiver then return 'unknown' end
  if owner then return 'sending' end
  if not hash then return 'lost' end
  call('ZREM', P .. 'called', id)
  call('HDEL', key, 'state', 'ended', 'attempt')
  call('HSET', key, 'wait', 0)
  call('PERSIST', key)
  call('ZADD', P .. 'callbacks:' .. receiver, NOW, id)
  callbacks().schedule_receiver(receiver)
  return 'due'
end

begin()
local answer = {}
for i, id in ipairs(ARGV) do answer[i] = redeliver(id) end
return answer
