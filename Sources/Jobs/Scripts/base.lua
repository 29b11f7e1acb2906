-- Part of the scripts that change jobs: the only code that changes a job's state.

-- require core
-- require retention
-- require bell
-- require parts

-- The event of a job whose fields are known; it names the job's group and the trace that it belongs to.
local function job_event(job, state, ...)
  local group, parent = job.group, job.traceparent
  if group and parent then
    event(job.id, state, 'group', group, 'traceparent', parent, ...)
  elseif group or parent then
    event(job.id, state, group and 'group' or 'traceparent', group or parent, ...)
  else
    event(job.id, state, ...)
  end
end

local function read(id)
  local key = P .. 'job:' .. id
  local f = call('HGETALL', key)
  -- Preallocates the fields of a terminal job, because growing the table repeatedly is slow.
  local job = {
    id = id, key = key, state = nil, score = nil, attempt = 0, attempts = 5, crashes = 0, token = nil, worker = nil,
    started = nil, phase = nil, progress = nil, ended = nil, finished = nil,
  }
  for i = 1, #f, 2 do job[f[i]] = f[i + 1] end
  if not job.state then return nil end
  job.attempt, job.attempts, job.crashes = job.attempt + 0, job.attempts + 0, job.crashes + 0
  if job.expires then job.expires = job.expires + 0 end
  if job.deadline then job.deadline = job.deadline + 0 end
  return job
end

-- The answer that was stored for a token when its attempt ended, as `<token> <answer>`; `nil` if it belongs to another token.
local function answered(ended, token)
  return ended and string.sub(ended, 1, #token + 1) == token .. ' ' and string.sub(ended, #token + 2) or nil
end

-- The id of the job that a duplicate's id is an alias of, or the id itself.
local function resolve(id)
  return call('GET', P .. 'alias:' .. id) or id
end

-- When a job that is not running fails as expired. `nil` while a commit record exists: the next owner first checks whether the
-- lost worker published the result.
local function last_moment(job)
  if job.commit then return nil end
  local start = not job.token and job.expires
  return start and math.min(start, job.deadline or start) or job.deadline
end

-- Moves a job from the index of its old state (none if it is new) to that of the new one; `...` are fields of its hash. A
-- waiting job is parked while its `limit_key` has no free permit.
local function move(job, state, score, ...)
  local id, old, was_parked = job.id, job.state, job.parked
  if old then add(removals, was_parked and PARKED or INDEX[old], id) end
  local was = old == 'waiting' and not was_parked or old == 'running'
  if job.limit_key then
    limits().step_out(job)
    job.parked = state == 'waiting' and limits().is_full(job.limit_key)
  end
  local is = state == 'waiting' and not job.parked or state == 'running'
  if was and not is then live_removals[#live_removals + 1] = id end
  if is and not was then live_adds[#live_adds + 1] = id end
  add(additions, job.parked and PARKED or INDEX[state], score, id)
  -- Limits read the indexes.
  if job.limit_key or not is_batch then apply() end
  call('HSET', job.key, 'state', state, ...)
  if job.expires or job.deadline then
    local last = (state == 'waiting' or state == 'delayed') and last_moment(job)
    if last then call('ZADD', EXPIRING, last, id) else call('ZREM', EXPIRING, id) end
  end
  if job.group then groups().tally(job, old, state) end
  job.state = state
  if job.limit_key then limits().step_in(job, score, was, was_parked) end
end

local function to_waiting(job, ...)
  if job.state then
    move(job, 'waiting', job.score, 'ready', job.state == 'delayed' and math.min(job.due, NOW) or now, ...)
  else
    -- A new job has been ready since it was pushed.
    move(job, 'waiting', job.score, ...)
  end
  job_event(job, 'waiting')
end

-- Makes a job waiting behind all jobs of its priority.
local function to_tail(job, rank, ...)
  seq = seq + 1
  job.score = whole(rank * BAND + seq)
  to_waiting(job, 'score', job.score, ...)
end

-- Makes a delayed job ready. A job whose attempt failed goes behind newer ones, so that it does not delay them repeatedly.
local function promote(job)
  if not job.tail then return to_waiting(job) end
  call('HDEL', job.key, 'tail')
  to_tail(job, math.floor(job.score / BAND))
end

-- `wait` is the delay in ms if the queue computed the due time, and '' if it was given as an instant.
local function to_delayed(job, due, wait, ...)
  move(job, 'delayed', due, 'due', due, 'wait', wait, ...)
  job_event(job, 'delayed', 'due', due)
end

-- require groups
-- require limits
