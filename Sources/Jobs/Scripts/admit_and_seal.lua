-- Admits all that was pushed before the first call, so that a group has its jobs, and perhaps seals the group.
--
-- KEYS     the queue's `meta`; the other keys follow from it (see meta.lua).
-- ARGV     group, `1` to seal it, what the call before answered after `again` or `-`, the group's callback or ''.
-- Answers  `again <id of the inbox's last entry at the first call>`, or `again -` while that is not known; `known` or `sealed`,
--          `unknown` if there is no such group, or `taken` if its callback can no longer be set.

-- require base
-- require admission
-- require groups

local name, seals, last, callback = unpack(ARGV)
local url = callback ~= '' and callback or nil

-- Whether an id of the inbox is not before another; Lua's numbers are too short for some.
local function reaches(id, other)
  local ms, number = string.match(id, '^(%d+)-(%d+)$')
  local other_ms, other_number = string.match(other, '^(%d+)-(%d+)$')
  if ms == other_ms then ms, other_ms = number, other_number end
  if #ms ~= #other_ms then return #ms > #other_ms end
  return ms >= other_ms
end

begin()
local has_more, reached, is_large = admission().admit()
if has_more then
  -- By id, not by time: the inbox's ids may be ahead of the clock. To read two large entries in one call takes too long.
  if last == '-' and not is_large then last = call('XREVRANGE', IN, '+', '-', 'COUNT', 1)[1][1] end
  if last == '-' or not reaches(reached, last) then
    ring()
    save()
    return 'again ' .. last
  end
end
local answer = call('EXISTS', groups().group_key(name)) == 1 and 'known' or 'unknown'
if seals == '1' then answer = groups().seal(name, url) end
ring()
save()
return answer
