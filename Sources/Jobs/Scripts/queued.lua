-- Entries of the inbox; of an entry that is too large for a job, only a part is returned.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     `page`, maximum number (1,000), the id of the last entry that was read or ''; or `find`, then ids.
-- Answers  page: the id to continue from or '' if no more follow, then for each entry, including bells: id, its fields;
--          find: for each id its fields, or '' if there is no such entry. If the entries are large, only the first ids are
--          answered, at least one.

-- require inbox

if ARGV[1] == 'page' then
  local answer = { '' }
  answer[1] = inbox().walk(ARGV[3], tonumber(ARGV[2]), function(id, flat)
    answer[#answer + 1] = id
    answer[#answer + 1] = inbox().clipped(flat)
  end)
  return answer
end
local answer, bytes = {}, 0
for i = 2, #ARGV do
  local flat = inbox().find(ARGV[i])
  answer[i - 1] = flat and inbox().clipped(flat) or ''
  bytes = bytes + (flat and inbox().cost(flat) or 0)
  if bytes >= inbox().MAX_CALL_BYTES then break end
end
return answer
