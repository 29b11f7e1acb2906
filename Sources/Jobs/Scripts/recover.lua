-- Continues a job with a commit record, after its owner has found that the result is not visible and has removed the staged
-- data. Actions that were postponed until then are taken now: the job ends if its cancellation was requested, or if it has
-- crashed the maximum number of times.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     id, token.
-- Answers  `OK` (run the job), `CANCELLED` or `CRASHED` (the job has ended; `finish` with the token returns its state),
--          `EXPIRED` (its deadline has passed; finish it as failed) or `STALE`. A repeated call gets the same answer.

-- require base
-- require endings

local id, token = unpack(ARGV)
local ENDED = { cancelled = 'CANCELLED', failed = 'CRASHED' }
local job = read(id)
if not job then return 'STALE' end
local given = answered(job.ended, token)
if given then return ENDED[given] or 'STALE' end
if job.state ~= 'running' or job.token ~= token then return 'STALE' end
-- A late duplicate must not delete the record of the next publication.
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
