-- Starts failed and cancelled jobs afresh, at the end of the line; they expire no more.
--
-- ARGV     for each job, at most 500: id, '' or its new spec (JSON), and with one `rank attempts limit_key`, the last `*` if
--          there is none, else ''. The client has checked the specs.
-- Answers  for each `retried`, `state <state>` (neither failed nor cancelled), `held <id>` (by dedup), `cut` (its fields
--          were too large to keep) or `unknown`.

local function renew(id, spec, options)
  local job = read(resolve(id))
  if not job then return 'unknown' end
  if job.state ~= 'failed' and job.state ~= 'cancelled' then return 'state ' .. job.state end
  local key = P .. 'job:' .. job.id
  if call('HEXISTS', key, 'cut') == 1 then return 'cut' end
  local first = admission().holder(job.dedup)
  if first and first ~= job.id then return 'held ' .. first end
  if job.dedup then call('SET', P .. 'dedup:' .. job.dedup, job.id) end
  call('PERSIST', key)
  call('PERSIST', P .. 'spec:' .. job.id)
  call('DEL', P .. 'result:' .. job.id, P .. 'log:' .. job.id)
  call('HDEL', key, 'attempt', 'crashes', 'error_code', 'error', 'retryable', 'started', 'finished', 'worker', 'due',
    'expires', 'deadline', 'tail')
  job.expires, job.deadline = nil, nil
  local rank = math.floor(job.score / BAND)
  if spec ~= '' then
    local attempts, limit
    rank, attempts, limit = string.match(options, '^(%d) (%d+) (%S+)$')
    call('SET', P .. 'spec:' .. job.id, spec)
    call('HSET', key, 'attempts', attempts)
    if admission().has_callback(spec) then call('HSET', key, 'callback', 1) else call('HDEL', key, 'callback') end
    job.limit_key = limit ~= '*' and limit or nil
    if job.limit_key then call('HSET', key, 'limit_key', limit) else call('HDEL', key, 'limit_key') end
  end
  to_tail(job, rank)
  return 'retried'
end

local answer = {}
for i = 1, #ARGV, 3 do answer[#answer + 1] = renew(ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
ring()
save()
return answer
