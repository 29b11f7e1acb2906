-- Restarts failed and cancelled jobs at the end of the queue; `expires` and `deadline` no longer apply to them.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     for each job, at most 500: id, spec (JSON), options (see options.lua). The client has checked the specs.
-- Answers  for each `retried`, `state <state>` (neither failed nor cancelled), `held <id>` (another job holds the dedup key),
--          `cut` (its fields were too large to keep) or `unknown`.

-- require base
-- require admission
-- require options

local function retry(id, spec, packed)
  local job = read(resolve(id))
  if not job then return 'unknown' end
  if job.state ~= 'failed' and job.state ~= 'cancelled' then return 'state ' .. job.state end
  local key = P .. 'job:' .. job.id
  if call('HEXISTS', key, 'cut') == 1 then return 'cut' end
  local options = unpack_options(packed)
  local first = admission().holder(options.dedup)
  if first and first ~= job.id then return 'held ' .. first end

  -- Sets a field, or deletes it. A job that an older script admitted may lack any of them.
  local function put(name, value)
    job[name] = value
    if value then call('HSET', key, name, value) else call('HDEL', key, name) end
  end
  for _, name in ipairs({ 'attempts', 'limit_key', 'dedup', 'callback', 'traceparent' }) do put(name, options[name]) end
  if job.dedup then call('SET', P .. 'dedup:' .. job.dedup, job.id) end
  call('SET', P .. 'spec:' .. job.id, spec)
  -- Earlier versions gave the hash of a finished job a time to live.
  call('PERSIST', key)
  call('DEL', P .. 'result:' .. job.id, P .. 'log:' .. job.id)
  call('HDEL', key, 'attempt', 'crashes', 'error_code', 'error', 'error_fields', 'unusable', 'retryable', 'started', 'finished',
    'worker', 'due', 'wait', 'expires', 'deadline', 'tail')
  job.expires, job.deadline = nil, nil
  to_tail(job, options.rank)
  return 'retried'
end

local answer = {}
for i = 1, #ARGV, 3 do answer[#answer + 1] = retry(ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
ring()
save()
return answer
