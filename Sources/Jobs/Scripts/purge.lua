-- Deletes jobs of a state; running ones are never touched.
--
-- ARGV     state, how many at most (500).
-- Answers  how many were deleted.

local state, limit = ARGV[1], tonumber(ARGV[2])
begin()
if state == 'queued' then
  answer_bell()
  local ids = {}
  for i, entry in ipairs(call('XRANGE', IN, '-', '+', 'COUNT', limit)) do ids[i] = entry[1] end
  if #ids > 0 then call('XDEL', IN, unpack(ids)) end
  ring()
  save()
  return #ids
end
if state == 'running' or not INDEX[state] then return 0 end
local ids = call('ZRANGE', INDEX[state], 0, limit - 1)
for _, id in ipairs(ids) do
  local dedup = call('HGET', P .. 'job:' .. id, 'dedup')
  if dedup and call('GET', P .. 'dedup:' .. dedup) == id then call('DEL', P .. 'dedup:' .. dedup) end
  call('ZREM', INDEX[state], id)
  call('SREM', LIVE, id)
  erase({ id })
  event(id, 'purged')
end
save()
return #ids
