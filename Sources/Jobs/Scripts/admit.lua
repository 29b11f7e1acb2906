-- Runs maintenance: admits pushed jobs, promotes due ones, reaps lost leases.
--
-- KEYS     the queue's `meta`; the other keys follow from it (see meta.lua).
-- ARGV     the worker's settings.
-- Answers  {1 if there is more to admit or to promote, else 0, the leases that were found expired}; of each job its id, its attempt,
--          the worker (`host:pid`) that was lost, and the job's new state.

-- require base
-- require maintenance

start_worker_call(ARGV[1])
local more = run_maintenance()
ring()
save_worker_call()
return { more and 1 or 0, lost }
