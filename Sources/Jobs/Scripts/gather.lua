-- Admits all that was pushed before the first call, so that a group has its jobs, and perhaps seals the group.
--
-- ARGV     group, `1` to seal it, the id that the first call answered or '', the group's callback or ''.
-- Answers  `again <id of the inbox's last entry at the first call>`, `known` or `sealed`, `unknown` if there is no such group,
--          or `taken` if its callback can no longer be set.

local name, wish, last, url = ARGV[1], ARGV[2], ARGV[3], ARGV[4] ~= '' and ARGV[4] or nil
begin()
-- By id, not by time: the inbox's ids may be ahead of the clock.
if last == '' then last = (call('XREVRANGE', IN, '+', '-', 'COUNT', 1)[1] or { '0-0' })[1] end
if admission().admit() then
  local bell_id = string.match(bell, '^%S+')
  for _, entry in ipairs(call('XRANGE', IN, '-', last, 'COUNT', 2)) do
    if entry[1] ~= bell_id then
      ring()
      save()
      return 'again ' .. last
    end
  end
end
local answer
if wish == '1' then answer = groups().seal(name, url) else answer = call('EXISTS', groups().group_key(name)) == 1 and 'known' or 'unknown' end
ring()
save()
return answer
