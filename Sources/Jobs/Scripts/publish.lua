-- The last check before a result becomes visible: after it the job can no longer be cancelled or released, and does not time
-- out.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     id, token, commit record (JSON).
-- Answers  `OK`, `CANCELLED` (cancellation was requested; finish the job as cancelled), `EXPIRED` (its deadline has passed;
--          finish it as failed) or `STALE`.

-- require base

local id, token, record = unpack(ARGV)
local job = read(id)
if not job or job.state ~= 'running' or job.token ~= token then return 'STALE' end
if job.cancel then return 'CANCELLED' end
if job.phase ~= 'publishing' and job.deadline and job.deadline <= NOW then return 'EXPIRED' end
begin()
call('SET', P .. 'commit:' .. id, record)
call('HSET', P .. 'job:' .. id, 'phase', 'publishing', 'commit', 1)
call('ZADD', LEASE, NOW + lease_ms, id)
if job.phase ~= 'publishing' then job_event(job, 'running', 'phase', 'publishing') end
save()
return 'OK'
