-- Part of the scripts that change jobs: how jobs end.

-- require groups
-- require callbacks

endings = part(function()
  -- Prunes an index: removes entries over the count or the age, and deletes their keys, which have the prefix.
  local function prune_index(set, kind, prefix)
    for _, old in ipairs(surplus(set, kind)) do
      call('ZREM', set, old)
      call('DEL', P .. prefix .. old)
    end
  end

  -- Adds the attempt that ends now to the job's history, unless it completes the job: then the hash says all. Each line is
  -- `attempt started ended outcome code worker`; the last 16 are kept.
  local function remember(job, outcome, code)
    if job.state ~= 'running' or job.is_remembered then return end
    job.is_remembered = true
    local lines = (job.history and job.history .. '\n' or '') .. job.attempt .. ' ' .. (job.started or now) .. ' ' .. now .. ' '
      .. outcome .. ' ' .. (code or '-') .. ' ' .. (job.worker or '-')
    local _, ends = string.gsub(lines, '\n', '')
    call('HSET', job.key, 'history', ends < 16 and lines or string.match(lines, '\n(.*)$'))
  end

  -- Moves a job to a terminal state. Returns the time to live of its spec and log.
  local function retire(job, state, ...)
    local is_first_attempt = job.state == 'running' and string.sub(job.token, 1, 2) == '1:'
    move(job, state, stamp(), 'finished', now, ...)
    note(state)
    local id, key = job.id, job.key
    if job.cancel or job.commit then
      call('HDEL', key, 'cancel', 'commit')
      call('DEL', P .. 'commit:' .. id)
    end
    if job.dedup and call('GET', P .. 'dedup:' .. job.dedup) == id then call('DEL', P .. 'dedup:' .. job.dedup) end
    local ttl = expire_spec(id, state)
    -- Only an earlier attempt can have written a log.
    if job.token and not is_first_attempt then call('PEXPIRE', P .. 'log:' .. id, ttl) end
    if job.callback then callbacks().announce(job) end
    return ttl
  end

  local function fail(job, code, message, retryable, ...)
    remember(job, 'failed', code)
    local ttl = retire(job, 'failed', 'error_code', code, 'error', string.sub(message, 1, 1024), 'retryable', retryable, ...)
    job_event(job, 'failed', 'code', code)
    return ttl
  end

  local function cancel(job, ...)
    remember(job, 'cancelled')
    local ttl = retire(job, 'cancelled', ...)
    job_event(job, 'cancelled')
    return ttl
  end

  -- Counts a crash instead of the attempt; `back` moves the job to where its next attempt waits. If a lost worker may have
  -- published the result, the job does not end yet: the next owner checks for the result first (see `recover`). After twice the
  -- maximum number of crashes it ends anyway.
  local function crash(job, code, message, back, ...)
    remember(job, 'crashed', code)
    job.crashes, job.attempt = job.crashes + 1, math.max(job.attempt - 1, 0)
    note('crashes')
    local may_end = not job.commit or job.crashes >= 2 * max_crashes
    if job.cancel and may_end then return cancel(job, 'crashes', job.crashes, 'attempt', job.attempt, ...) end
    if job.crashes >= max_crashes and may_end then
      return fail(job, code, message, 1, 'crashes', job.crashes, 'attempt', job.attempt, ...)
    end
    back(job, 'crashes', job.crashes, 'attempt', job.attempt, 'error_code', code,
      'error', string.sub(message, 1, 1024), 'retryable', 1, ...)
  end

  -- Appends lines to a job's log; `ttl` is the time to live of a terminal job.
  local function keep_log(job, log, ttl)
    local key = P .. 'log:' .. job.id
    -- The log of earlier attempts comes first, as far as there is room.
    local earlier = (job.attempt > 1 or job.crashes > 0) and call('GET', key)
    if earlier then log = earlier .. '\n' .. log end
    if #log > 8192 then log = string.gsub(string.sub(log, -8192), '^[^\n]*\n', '') end
    if ttl then call('SET', key, log, 'PX', ttl) else call('SET', key, log) end
  end

  -- The current time in ISO 8601. The calculation begins years in March, so that a leap day is the last day of a year.
  local function timestamp()
    local days = math.floor(NOW / 86400000)
    local ms = NOW - days * 86400000
    local shifted = days + 719468
    local era = math.floor(shifted / 146097)
    local day = shifted - era * 146097
    local year = math.floor((day - math.floor(day / 1460) + math.floor(day / 36524) - math.floor(day / 146096)) / 365)
    day = day - (365 * year + math.floor(year / 4) - math.floor(year / 100))
    local month = math.floor((5 * day + 2) / 153)
    day = day - math.floor((153 * month + 2) / 5) + 1
    month = month < 10 and month + 3 or month - 9
    year = year + era * 400 + (month <= 2 and 1 or 0)
    return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, day, math.floor(ms / 3600000),
      math.floor(ms / 60000) % 60, math.floor(ms / 1000) % 60, ms % 1000)
  end

  local LOST = 'the worker was lost: its lease on the job expired'

  -- Ends the lease of a lost worker's job, and adds that to the job's log.
  local function reap(job)
    local attempt, lost_worker = job.attempt, string.match(job.worker, '^(.*):[^:]*$') or job.worker
    local ttl = crash(job, 'crashed', LOST, to_waiting)
    keep_log(job, timestamp() .. ' attempt ' .. attempt .. ' of ' .. job.attempts .. ' lost: no heartbeat from worker ' .. lost_worker
      .. ' before its lease of ' .. lease_ms / 1000 .. ' s expired', ttl)
    return attempt, lost_worker
  end

  return {
    prune_index = prune_index, fail = fail, cancel = cancel, crash = crash, retire = retire, remember = remember, keep_log = keep_log,
    reap = reap, LOST = LOST,
  }
end)
