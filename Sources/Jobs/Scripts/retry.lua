-- Starts failed and cancelled jobs afresh, at the end of the line; they expire no more.
--
-- ARGV     ids, at most 500; their specs were checked by the client.
-- Answers  for each `retried`, `state <state>` (neither failed nor cancelled), `held <id>` (by dedup), `cut` (its fields
--          were too large to keep) or `unknown`.

local function renew(id)
  local job = read(resolve(id))
  if not job then return 'unknown' end
  if job.state ~= 'failed' and job.state ~= 'cancelled' then return 'state ' .. job.state end
  local key = P .. 'job:' .. job.id
  if call('HEXISTS', key, 'cut') == 1 then return 'cut' end
  local first = holder(job.dedup)
  if first and first ~= job.id then return 'held ' .. first end
  if job.dedup then call('SET', P .. 'dedup:' .. job.dedup, job.id) end
  call('PERSIST', key)
  call('PERSIST', P .. 'spec:' .. job.id)
  call('DEL', P .. 'result:' .. job.id, P .. 'log:' .. job.id)
  call('HDEL', key, 'attempt', 'crashes', 'error_code', 'error', 'retryable', 'started', 'finished', 'worker', 'due',
    'expires')
  seq = seq + 1
  job.score = whole(math.floor(job.score / BAND) * BAND + seq)
  to_waiting(job, 'score', job.score)
  return 'retried'
end

local answer = {}
for i, id in ipairs(ARGV) do answer[i] = renew(id) end
ring()
save()
return answer
