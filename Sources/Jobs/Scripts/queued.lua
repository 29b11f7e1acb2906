-- Entries of the inbox, of which no more is answered than a job may have.
--
-- KEYS     the queue's `meta`; the other keys follow from it (see meta.lua).
-- ARGV     `page`, how many at most (1,000), the id of the last entry that was read or ''; or `find`, then ids.
-- Answers  page: the id to go on from or '' if no more follow, then for each entry, bells too: id, its fields;
--          find: for each id its fields, or '' if there is no such entry; of fewer ids, but of one, if they are large.

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
