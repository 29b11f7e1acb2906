-- Part of the script `repair`: puts one job where its hash says that it belongs. The hash is what counts; indexes follow from it.

-- require admission
-- require endings
-- require groups
-- require limits

local mending = part(function()
  local report = {}

  local function mended(text) report[#report + 1] = text end

  -- Says what is left as it is, and why.
  local function cannot(text) report[#report + 1] = '! ' .. text end

  local NAMES = {
    ready = READY, parked = PARKED, delayed = INDEX.delayed, lease = LEASE, done = INDEX.completed, failed = INDEX.failed,
    cancelled = INDEX.cancelled,
  }
  local NAME_OF = {
    waiting = 'ready', delayed = 'delayed', running = 'lease', completed = 'done', failed = 'failed', cancelled = 'cancelled',
  }

  -- Removes the entries of a job from all indexes except one.
  local function remove_entries(id, except)
    for name, key in pairs(NAMES) do
      if name ~= except and call('ZREM', key, id) == 1 then mended(id .. ' was removed from ' .. name) end
    end
  end

  -- The only state whose index has the job; `nil` if there is none, or several.
  local function indexed_state(id)
    local found
    for state, name in pairs(NAME_OF) do
      if call('ZSCORE', NAMES[name], id) or name == 'ready' and call('ZSCORE', PARKED, id) then
        if found then return nil end
        found = state
      end
    end
    return found
  end

  -- The fields of a job as a list; `nil` if they cannot be read. The spec of a job that has ended expires.
  local function unfinished_fields(id)
    local text = call('GET', P .. 'spec:' .. id)
    if not text or call('PTTL', P .. 'spec:' .. id) ~= -1 then return nil end
    local is_read, spec = pcall(cjson.decode, text)
    if not is_read or type(spec) ~= 'table' then return nil end
    local flat = {}
    for name, value in pairs(spec) do
      flat[#flat + 1] = name
      flat[#flat + 1] = tostring(value)
    end
    return flat
  end

  -- A job without a hash. If its fields are there and it had not ended, it is admitted again, else its other keys are deleted.
  local function restore(id)
    local flat, has_commit = unfinished_fields(id), call('EXISTS', P .. 'commit:' .. id) == 1
    if flat and not pcall(admission().check, flat, true) then
      return cannot('job ' .. id .. ' has lost its state, and its fields are not valid: delete its keys, and push it again')
    end
    remove_entries(id)
    if call('SREM', LIVE, id) + call('ZREM', EXPIRING, id) > 0 then mended(id .. ' was removed from live and expiring') end
    local count = call('DEL', P .. 'result:' .. id, P .. 'job:' .. id)
    if not flat then
      if count + call('DEL', P .. 'spec:' .. id, P .. 'log:' .. id, P .. 'commit:' .. id) > 0 then
        mended('the keys of ' .. id .. ', which is not a job, were deleted')
      end
      return
    end
    admission().admit_entry(id, flat, true)
    if call('EXISTS', P .. 'job:' .. id) == 0 then
      call('DEL', P .. 'spec:' .. id, P .. 'log:' .. id, P .. 'commit:' .. id)
      mended('job ' .. id .. ' had lost its state: it is a duplicate of ' .. resolve(id) .. ' now')
      return
    end
    -- The next owner looks for the result that a lost worker may have published.
    local state = call('HGET', P .. 'job:' .. id, 'state')
    if has_commit and TERMINAL[state] then call('DEL', P .. 'commit:' .. id) end
    if has_commit and not TERMINAL[state] then call('HSET', P .. 'job:' .. id, 'commit', 1) end
    mended('job ' .. id .. ' had lost its state: it was admitted again, and is ' .. state)
  end

  -- Sets what the hash of a job in its state must have.
  local function mend_fields(job)
    local id, key = job.id, job.key
    local function put(what, ...)
      call('HSET', key, ...)
      mended('job ' .. id .. ' got ' .. what)
    end
    local function drop(what, ...)
      if call('HDEL', key, ...) > 0 then mended('job ' .. id .. ' lost ' .. what) end
    end
    local score = tonumber(job.score)
    if not score or score % 1 ~= 0 then
      local is_read, spec = pcall(cjson.decode, call('GET', P .. 'spec:' .. id) or '')
      local ranks = { high = 0, low = 2 }
      seq = seq + 1
      job.score = whole((ranks[is_read and type(spec) == 'table' and spec.priority or ''] or 1) * BAND + seq)
      put('a new place behind the jobs of its priority', 'score', job.score)
    end
    local attempt = math.floor(math.max(0, math.min(job.attempt, job.attempts)))
    if attempt ~= job.attempt then
      job.attempt = attempt
      put('attempt ' .. attempt, 'attempt', attempt)
    end
    if job.state == 'running' and (not job.token or not job.worker or not job.started or job.attempt < 1
      or answered(job.ended, job.token)) then
      -- Its worker, if there is one, gets LOST with the next beat.
      to_waiting(job, 'attempt', math.max(job.attempt - 1, 0))
      mended('job ' .. id .. ' ran without an owner: it waits again')
    end
    if job.state == 'delayed' and not tonumber(job.due) then
      job.due = now
      put('a due time', 'due', now)
    end
    local is_over = TERMINAL[job.state] ~= nil
    local has_commit = call('EXISTS', P .. 'commit:' .. id) == 1
    if is_over then
      if call('DEL', P .. 'commit:' .. id) > 0 then mended('the commit record of ' .. id .. ', which has ended, was deleted') end
      drop('a commit record', 'commit')
      job.commit = nil
    elseif has_commit and not job.commit then
      job.commit = '1'
      put('its commit record', 'commit', 1)
    elseif job.commit and not has_commit then
      job.commit = nil
      drop('a commit record that is gone', 'commit')
    end
    if job.cancel and is_over then drop('a cancellation', 'cancel') end
    if job.cancel and (job.state == 'waiting' or job.state == 'delayed') and not job.commit then
      endings().cancel(job)
      mended('job ' .. id .. ' was cancelled, as it was asked to be')
    end
    if is_over and not job.finished then
      job.finished = now
      put('an end time', 'finished', now)
    end
    if job.state == 'failed' and not (job.error_code and job.error) then
      put('an error in place of the lost one', 'error_code', job.error_code or 'internal', 'error', job.error or 'the error was lost',
        'retryable', job.retryable or 0)
    elseif job.state == 'completed' then
      drop('an error', 'error', 'error_code', 'error_fields', 'retryable')
    end
  end

  -- Sets the life of the job's keys, and removes a result that its state cannot have.
  local function mend_keys(job)
    local id, is_over = job.id, TERMINAL[job.state] ~= nil
    if job.state ~= 'completed' and job.state ~= 'failed' and call('DEL', P .. 'result:' .. id) == 1 then
      mended('job ' .. id .. ' is ' .. job.state .. ': its result was deleted')
    end
    for _, kind in ipairs({ 'job:', 'result:', 'spec:', 'log:' }) do
      local key = P .. kind .. id
      local life, is_mortal = call('PTTL', key), is_over and (kind == 'spec:' or kind == 'log:')
      if is_mortal and life == -1 then
        local _, _, ttl = retention(job.state)
        call('PEXPIRE', key, ttl)
        mended(kind .. id .. ' expires now')
      elseif not is_mortal and life >= 0 then
        call('PERSIST', key)
        mended(kind .. id .. ' does not expire any more')
      end
    end
    if call('EXISTS', P .. 'spec:' .. id) == 0 then
      cannot('the fields of job ' .. id .. ' are lost: ' .. (is_over and 'delete it' or 'cancel it, or let it fail when it is claimed'))
    end
    if job.state == 'completed' and call('EXISTS', P .. 'result:' .. id) == 0 then
      cannot('the report of job ' .. id .. ' is lost; its output files are where they were')
    end
    if not job.dedup or is_over then return end
    local holder = call('GET', P .. 'dedup:' .. job.dedup)
    if holder == id then return end
    local dedup, state = unpack(call('HMGET', P .. 'job:' .. (holder or ''), 'dedup', 'state'))
    if dedup == job.dedup and state and not TERMINAL[state] then
      cannot('jobs ' .. id .. ' and ' .. holder .. ' have the same dedup key: cancel one of them')
    else
      call('SET', P .. 'dedup:' .. job.dedup, id)
      mended('job ' .. id .. ' holds its dedup key again')
    end
  end

  -- Puts the job into the indexes of its state, with the right scores.
  local function mend_entries(job)
    local id, state = job.id, job.state
    if job.parked and not (state == 'waiting' and job.limit_key) then
      call('HDEL', job.key, 'parked')
      job.parked = nil
      mended('job ' .. id .. ' is not parked any more')
    end
    local name = job.parked and 'parked' or NAME_OF[state]
    local score = call('ZSCORE', NAMES[name], id)
    local wanted = state == 'waiting' and job.score or state == 'delayed' and job.due
    if wanted and tonumber(wanted) ~= tonumber(score) or not score then
      call('ZADD', NAMES[name], wanted or state == 'running' and NOW + lease_ms or whole((tonumber(job.finished) or NOW) * 1024), id)
      mended('job ' .. id .. ' is ' .. state .. ': it was put into ' .. name)
    end
    remove_entries(id, name)
    local is_live = name == 'ready' or name == 'lease'
    if call(is_live and 'SADD' or 'SREM', LIVE, id) == 1 then
      mended('job ' .. id .. ' was ' .. (is_live and 'added to' or 'removed from') .. ' live')
    end
    local last = (state == 'waiting' or state == 'delayed') and last_moment(job) or nil
    if tonumber(call('ZSCORE', EXPIRING, id) or nil) ~= last then
      if last then call('ZADD', EXPIRING, last, id) else call('ZREM', EXPIRING, id) end
      mended('the time at which job ' .. id .. ' expires was set right')
    end
    if job.limit_key then
      local set, queue = P .. 'limit:' .. job.limit_key, P .. 'parked:' .. job.limit_key
      local changed = call(state == 'running' and 'SADD' or 'SREM', set, id)
      local parked_at = call('ZSCORE', queue, id)
      if job.parked and tonumber(parked_at or nil) ~= tonumber(job.score) then
        call('ZADD', queue, job.score, id)
        changed = 1
      elseif not job.parked then
        changed = math.max(changed, call('ZREM', queue, id))
      end
      if changed == 1 then mended('job ' .. id .. ' was set right under its limit_key ' .. job.limit_key) end
    end
    if job.group then
      local members = groups().group_key(job.group) .. ':ids'
      local place = whole((TERMINAL[state] or 0) * BAND + job.score % BAND)
      if call('ZSCORE', members, id) ~= place then
        call('ZADD', members, place, id)
        mended('job ' .. id .. ' was put into its place in the group ' .. job.group)
      end
    end
  end

  local function mend_job(id)
    local key = P .. 'job:' .. id
    local state = call('HGET', key, 'state')
    if call('EXISTS', key) == 1 and not (state and INDEX[state]) then
      local found = indexed_state(id)
      if found then
        call('HSET', key, 'state', found)
        mended('job ' .. id .. ' got the state ' .. found .. ' of its index')
        state = found
      elseif not unfinished_fields(id) then
        cannot('job ' .. id .. ' has the state ' .. (state or 'none') .. ', and nothing says what it was: delete its keys')
        return
      end
    end
    if not (state and INDEX[state]) then return restore(id) end
    local job = read(id)
    mend_fields(job)
    mend_keys(job)
    mend_entries(job)
  end

  return { report = report, mended = mended, cannot = cannot, mend_job = mend_job }
end)
