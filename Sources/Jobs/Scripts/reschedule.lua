-- Changes the priority of jobs that wait or are delayed, and the instant before which they do not start.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     rank or '', its name or '', the instant (`@ms`; `now`, for delayed jobs only; or ''), the same in ISO 8601 or '', then ids,
--          at most 500.
-- Answers  for each `rescheduled`, `state <state>` (it neither waits nor is delayed; with `now`: it is not delayed) or `unknown`.
--          If the specs are large, only the first ids are processed, at least one.

-- require base
-- require admission

local rank, priority, moment, instant = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local due = tonumber(string.match(moment, '^@(%d+)$') or moment == 'now' and 0 or nil)
local MAX_CALL_BYTES, bytes = 262144, 0

local function reschedule(id)
  local job = read(resolve(id))
  if not job then return 'unknown' end
  if job.state ~= 'delayed' and (job.state ~= 'waiting' or moment == 'now') then return 'state ' .. job.state end
  local text = call('GET', P .. 'spec:' .. job.id)
  bytes = bytes + #(text or '')
  local is_spec, spec = pcall(cjson.decode, text or '')
  if not is_spec or type(spec) ~= 'table' then return 'unknown' end

  -- The spec says what a retry runs, and what readers see.
  if rank then
    spec.priority = priority
    job.score = whole(rank * BAND + job.score % BAND)
  end
  if due then
    spec.delay, spec.not_before = nil, due > NOW and instant or nil
  end
  call('SET', P .. 'spec:' .. job.id, cjson.encode(spec))
  if due and due > NOW then
    to_delayed(job, whole(due), '', 'score', job.score)
  elseif due and job.state == 'delayed' then
    call('HSET', job.key, 'score', job.score)
    promote(job)
  elseif rank and job.state == 'waiting' then
    move(job, 'waiting', job.score, 'score', job.score)
    job_event(job, 'waiting', 'priority', priority)
  elseif rank then
    call('HSET', job.key, 'score', job.score)
    job_event(job, 'delayed', 'due', job.due, 'priority', priority)
  end
  return 'rescheduled'
end

local answer = {}
for i = 5, #ARGV do
  answer[#answer + 1] = reschedule(ARGV[i])
  if bytes >= MAX_CALL_BYTES then break end
end
ring()
save()
return answer
