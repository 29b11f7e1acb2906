-- Sets how many jobs of a key run at once.
--
-- ARGV     key, or `*` for all that have no number of their own; the number, or '' to take it away.

local key, number = ARGV[1], ARGV[2]
begin()
if number == '' then call('HDEL', LIMITS, key) else call('HSET', LIMITS, key, number) end
if key ~= '*' then
  -- The rest is called as these are taken.
  for _ = 1, math.min(places(key), 500) do
    if not call_next(key) then break end
  end
end
ring()
save()
