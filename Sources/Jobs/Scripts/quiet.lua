-- Tells a worker to claim no more jobs, or to claim jobs again; it learns that with its next beat, and holds it for all its queues.
--
-- `order` of `worker:<name>` is when the worker was told last, in ms: negative if it was told to claim again.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     worker, `1` to claim no more, `0` to claim again.
-- Answers  1, or 0 if the queue has no such worker.

local worker, quiets = unpack(ARGV)
local key = P .. 'worker:' .. worker
if call('HEXISTS', key, 'host') == 0 then return 0 end
-- A later order is never the older one, also within a millisecond.
local moment = math.max(NOW, math.abs(tonumber(call('HGET', key, 'order') or 0)) + 1)
call('HSET', key, 'order', (quiets == '1' and '' or '-') .. string.format('%.0f', moment))
if quiets == '1' then call('HSET', key, 'quiet', 1) else call('HDEL', key, 'quiet') end
return 1
