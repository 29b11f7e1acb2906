-- Runs maintenance: admits pushed jobs, promotes due ones, reaps lost leases.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     none: it keeps the settings that the workers saved.
-- Answers  {1 if more remains, else 0, the leases that were found expired}. Each lease is the job's id, its attempt, the lost worker
--          (`host:pid`) and the job's new state.

-- require base
-- require maintenance

start_worker_call()
local more = run_maintenance()
ring()
save(worker_call_fields())
return { more and 1 or 0, lost }
