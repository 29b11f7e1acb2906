-- Admits all entries that were pushed before the first call, so that the group has all its jobs, and optionally seals the
-- group.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     group, `1` to seal it, what followed `again` in the previous call's answer or `-`, the group's callback URL or ''.
-- Answers  `again <id of the inbox's last entry at the first call>`, or `again -` while that is not known; `known` or `sealed`,
--          `unknown` if there is no such group, or `taken` if its callback can no longer be set.

-- require base
-- require admission
-- require groups

local name, seals, last, callback = unpack(ARGV)
local url = callback ~= '' and callback or nil

-- Whether an id of the inbox is equal to or greater than another. Compares digits, because some ids exceed the precision of a
-- Lua number.
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
  -- Compares ids, not times: the inbox's ids may be ahead of the clock. Reading a second large entry in one call would take too
  -- long.
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
