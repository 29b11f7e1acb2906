-- Cancels jobs.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     ids, at most 500.
-- Answers  for each `cancelled`, `requested`, `too late <state>` or `unknown`. `requested`: the job is running, and its worker
--          gets the cancellation with the next beat; or its worker was lost while it published, and the next owner first checks
--          for the result. If the jobs' entries in the inbox are large, only the first ids are processed, at least one.

-- require base
-- require inbox
-- require admission
-- require endings

local bytes = 0

local function cancel(id)
  local job = read(resolve(id))
  if not job and string.find(id, '^%d+%-%d+$') then
    local flat = inbox().find(id)
    -- A bell is not a job; the next claim removes it.
    if not flat or inbox().is_bell(flat) then return 'unknown' end
    bytes = bytes + inbox().cost(flat)
    -- A seal that has not been applied yet is removed.
    if inbox().is_seal(flat) then
      call('XDEL', IN, id)
      return 'cancelled'
    end
    admission().admit_entry(id, flat)
    call('XDEL', IN, id)
    job = read(resolve(id))
  end
  if not job then return 'unknown' end
  if job.state == 'running' and job.phase ~= 'publishing' then
    call('HSET', job.key, 'cancel', 1)
    return 'requested'
  elseif job.state == 'waiting' or job.state == 'delayed' then
    if job.commit then
      call('HSET', job.key, 'cancel', 1)
      if job.state == 'delayed' then promote(job) end
      return 'requested'
    end
    endings().cancel(job)
    return 'cancelled'
  end
  return 'too late ' .. job.state
end

begin()
local answer = {}
for i, id in ipairs(ARGV) do
  answer[i] = cancel(id)
  if bytes >= inbox().MAX_CALL_BYTES then break end
end
trim('cancelled')
ring()
save()
return answer
