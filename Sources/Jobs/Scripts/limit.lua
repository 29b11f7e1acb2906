-- Sets how many jobs of a key run at once, or how many may start per minute.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     key, or `*` for all keys without a separate number; the number, or '' to remove it; `limits` or `rates`;
--          the position among the parked jobs at which to continue, or ''.
-- Answers  the position at which to continue, if more than 500 jobs are parked that `*` may concern, else ''.

-- require base
-- require limits

local name, number, kind, start = unpack(ARGV)
local hash, rest = P .. kind, ''

-- Unparks jobs of a key that may run now.
local function take_hold(key, most)
  if kind == 'rates' then
    call('DEL', P .. 'rate:' .. key)
    call('ZREM', PACED, key)
    most = 1
  end
  -- The remaining jobs are unparked when these are claimed.
  for _ = 1, math.min(limits().free_permits(key), most) do
    if not limits().unpark_next(key) then break end
  end
  limits().pace(key)
end

begin()
if number == '' then call('HDEL', hash, name) else call('HSET', hash, name, number) end
if name ~= '*' then
  take_hold(name, 500)
else
  local found = call('ZRANGEBYSCORE', PARKED, start == '' and '-inf' or '(' .. start, '+inf', 'WITHSCORES', 'LIMIT', 0, 500)
  local seen = {}
  for i = 1, #found, 2 do
    local held = call('HGET', P .. 'job:' .. found[i], 'limit_key')
    if held and not seen[held] and call('HEXISTS', hash, held) == 0 then take_hold(held, 1) end
    if held then seen[held] = true end
  end
  if #found == 1000 then rest = found[1000] end
end
ring()
save()
return rest
