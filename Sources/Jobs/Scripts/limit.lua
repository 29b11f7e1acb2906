-- Sets how many jobs of a key run at once, or how many may begin in a minute.
--
-- ARGV     key, or `*` for all that have no number of their own; the number, or '' to take it away; `limits` or `rates`.

local key, number, hash = ARGV[1], ARGV[2], P .. ARGV[3]
begin()
if number == '' then call('HDEL', hash, key) else call('HSET', hash, key, number) end
if key ~= '*' then
  if hash == RATES then
    call('DEL', P .. 'rate:' .. key)
    call('ZREM', PACED, key)
  end
  -- The rest is called as these are taken.
  for _ = 1, math.min(places(key), hash == RATES and 1 or 500) do
    if not call_next(key) then break end
  end
end
ring()
save()
