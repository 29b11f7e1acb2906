-- Deletes jobs in one state, or one job; running ones are never deleted.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     state, maximum number (500); or `job`, the id of a job.
-- Answers  how many were deleted, and 1 if there may be more, else 0. Entries of the inbox that are not jobs are deleted too,
--          but a seal is applied first, because a client may be waiting for the end of its group. For one job: `removed`, or its
--          state if it is running, or `unknown` if it does not exist or was not admitted yet.

-- require base
-- require inbox
-- require admission
-- require groups
-- require limits
-- require endings

local state, limit = ARGV[1], tonumber(ARGV[2])
begin()
if state == 'queued' then
  answer_bell()
  local ids, purged = {}, 0
  local last = inbox().walk('', limit, function(id, flat)
    ids[#ids + 1] = id
    if inbox().is_seal(flat) then admission().admit_entry(id, flat) elseif not inbox().is_bell(flat) then purged = purged + 1 end
  end)
  if #ids > 0 then call('XDEL', IN, unpack(ids)) end
  ring()
  save()
  return { purged, last ~= '' and 1 or 0 }
end
local only = state == 'job' and read(ARGV[2])
if state == 'job' then
  if not only then return 'unknown' end
  state = only.state
  if state == 'running' then return state end
end
if state == 'running' or not INDEX[state] then return { 0, 0 } end

local keys = {}

local function remove(id)
  local job = read(id)
  call('ZREM', INDEX[state], id)
  call('SREM', LIVE, id)
  if job then
    if job.dedup and call('GET', P .. 'dedup:' .. job.dedup) == id then call('DEL', P .. 'dedup:' .. job.dedup) end
    if job.group then groups().remove(id, job.group, not TERMINAL[state] and state or nil) end
    if job.limit_key then limits().depart(job) end
    if job.expires or job.deadline then call('ZREM', EXPIRING, id) end
  end
  add_keys(keys, id, state)
  job_event(job or { id = id }, 'purged')
end

if only then
  remove(only.id)
  call('DEL', unpack(keys))
  ring()
  save()
  return 'removed'
end
-- Parked jobs are deleted first, so that deleting other jobs does not unpark them.
local ids = state == 'waiting' and call('ZRANGE', PARKED, 0, limit - 1) or {}
for _, id in ipairs(ids) do remove(id) end
local rest = limit > #ids and call('ZRANGE', INDEX[state], 0, limit - #ids - 1) or {}
for _, id in ipairs(rest) do remove(id) end
if keys[1] then call('DEL', unpack(keys)) end
ring()
save()
return { #ids + #rest, #ids + #rest == limit and 1 or 0 }
