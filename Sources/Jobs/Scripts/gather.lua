-- Admits all that was pushed before the first call, so that a group has its jobs, and perhaps seals the group.
--
-- ARGV     group, `1` to seal it, ms of the first call or ''.
-- Answers  `again <ms of the first call>`, `unknown` if there is no such group, or `known`.

local name, wish, first_call = ARGV[1], ARGV[2], tonumber(ARGV[3]) or NOW
begin()
if admit() then
  local bell_id = string.match(bell, '^%S+')
  for _, entry in ipairs(call('XRANGE', IN, '-', '+', 'COUNT', 2)) do
    if entry[1] ~= bell_id and tonumber(string.match(entry[1], '^%d+')) <= first_call then
      ring()
      save()
      return 'again ' .. whole(first_call)
    end
  end
end
local is_known
if wish == '1' then is_known = seal(name) else is_known = call('EXISTS', P .. 'group:' .. name) == 1 end
ring()
save()
return is_known and 'known' or 'unknown'
