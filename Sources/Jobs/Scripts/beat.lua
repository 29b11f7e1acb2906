-- A worker's heartbeat: renews the leases of its jobs and stores their progress, then runs maintenance and prunes terminal
-- jobs.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     settings, worker, host, slots, version, traits (words with blanks between, or ''), the latest order that the worker has from
--          any of its queues (see quiet.lua) or 0, then for each job: id, token, phase or '', progress or ''.
--          Progress is `fraction position duration speed eta`, each `-` if unknown, optionally followed by `estimated`
--          and the outputs.
-- Answers  {1 if more remains of maintenance, 1 if a callback is due, 1 if a schedule is due, each else 0,
--          the leases that were found expired, as in `admit`, the rank of the first ready job or -1 if there is none to claim,
--          the latest order or 0, 1 if this worker is to repair the queue, else 0; then for each job `OK`, `LOST`, `CANCEL` or `EXPIRED`}.

-- require base
-- require callbacks
-- require maintenance

local worker_settings, worker, host, slots, version, traits, order = unpack(ARGV, 1, 7)
local worker_key = P .. 'worker:' .. worker
local answer, jobs = { 0, 0, 0, lost, -1, 0, 0 }, {}

local function step(progress)
  return math.floor(20 * (tonumber(string.match(progress or '', '^%S+')) or 0))
end

local function renew(id, token, phase, progress)
  local key = P .. 'job:' .. id
  local state, owner, cancel, earlier_phase, earlier_progress, deadline, commit, traceparent =
    unpack(call('HMGET', key, 'state', 'token', 'cancel', 'phase', 'progress', 'deadline', 'commit', 'traceparent'))
  if state ~= 'running' or owner ~= token then return 'LOST' end
  call('ZADD', LEASE, NOW + lease_ms, id)
  -- The beat may have been sent before the job began to publish.
  if earlier_phase == 'publishing' or phase == '' then phase = earlier_phase end
  if progress ~= '' then
    call('HSET', key, 'phase', phase, 'progress', progress)
    if phase ~= earlier_phase or step(progress) ~= step(earlier_progress) then
      -- In a queue without groups, nothing is read for it.
      local group = has_groups and call('HGET', key, 'group')
      local job = { id = id, group = group, traceparent = traceparent }
      job_event(job, 'running', 'phase', phase, 'progress', string.match(progress, '^%S+'))
    end
  end
  if phase == 'publishing' then return 'OK' end
  -- Until it is known whether a lost worker published the result, the job is neither cancelled nor expired.
  if cancel and not commit then return 'CANCEL' end
  return deadline and not commit and tonumber(deadline) <= NOW and 'EXPIRED' or 'OK'
end

start_worker_call(worker_settings)
for i = 8, #ARGV, 4 do
  answer[#answer + 1] = renew(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3])
  jobs[#jobs + 1] = ARGV[i]
end
call('HSET', worker_key, 'host', host, 'slots', slots, 'version', version, 'jobs', table.concat(jobs, ' '))
if traits ~= '' then call('HSET', worker_key, 'traits', traits) end
call('PEXPIRE', worker_key, 600000)
-- The latest order holds, whichever of its queues the worker was given it by.
local known, latest = tonumber(call('HGET', worker_key, 'order') or 0), tonumber(order)
if math.abs(latest) > math.abs(known) then
  call('HSET', worker_key, 'order', order)
  if latest > 0 then call('HSET', worker_key, 'quiet', 1) else call('HDEL', worker_key, 'quiet') end
  known = latest
end
answer[6] = known
call('ZREMRANGEBYSCORE', P .. 'workers', '-inf', NOW - 60000)
call('ZADD', P .. 'workers', NOW, worker)
if run_maintenance() then answer[1] = 1 end
local first = not paused and call('ZRANGE', READY, 0, 0, 'WITHSCORES')[2]
if first then answer[5] = math.floor(first / BAND) end
-- After a script failed half-way, one worker at a time repairs the queue; if it does not finish, another one does.
local REPAIR_MS = 60000
local is_broken, repaired_at = unpack(call('HMGET', META, 'broken', 'repair'))
if is_broken and math.abs(NOW - (repaired_at or 0)) >= REPAIR_MS then
  call('HSET', META, 'repair', now)
  answer[7] = 1
end
if until_first(CALLBACKS, 0) == 0 then answer[2] = 1 end
if until_first(P .. 'schedules', 0) == 0 then answer[3] = 1 end
for _, state in ipairs({ 'completed', 'failed', 'cancelled' }) do trim(state) end
callbacks().prune_callbacks()
admission().prune_aliases()
ring()
save(worker_call_fields())
return answer
