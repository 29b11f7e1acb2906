-- Goes on with a job of whose commit record its owner has found that the result is not visible, and has removed what was staged.
-- What had to wait for that is done now: the job ends if it is to be cancelled, or has crashed as often as it may.
--
-- KEYS     the queue's `meta`; the other keys follow from it (see meta.lua).
-- ARGV     id, token.
-- Answers  `OK` (run the job), `CANCELLED` or `CRASHED` (the job is over; `finish` with the token answers how), `EXPIRED` (its
--          deadline has passed; finish it as failed) or `STALE`. Repeated, answers the same.

-- require base
-- require endings

local id, token = unpack(ARGV)
local ENDED = { cancelled = 'CANCELLED', failed = 'CRASHED' }
local job = read(id)
if not job then return 'STALE' end
local given = answered(job.ended, token)
if given then return ENDED[given] or 'STALE' end
if job.state ~= 'running' or job.token ~= token then return 'STALE' end
-- A late duplicate must not take away the record of the next publication.
if job.phase == 'publishing' then return 'OK' end
local answer = job.deadline and job.deadline <= NOW and 'EXPIRED' or 'OK'
if not job.commit then return answer end
begin()
if job.cancel then
  answer = 'CANCELLED'
  endings().cancel(job, 'ended', token .. ' cancelled')
elseif job.crashes >= max_crashes then
  answer = 'CRASHED'
  local message = job.error_code == 'crashed' and job.error or endings().LOST
  endings().fail(job, 'crashed', message, 1, 'attempt', math.max(job.attempt - 1, 0), 'ended', token .. ' failed')
else
  call('HDEL', job.key, 'commit')
  call('DEL', P .. 'commit:' .. id)
end
if has_unparked then ring() end
save()
return answer
