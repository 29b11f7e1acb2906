-- Part of the scripts that change jobs: the groups of jobs.
--
-- `group:<name>` (hash) counts the jobs by state, including deleted terminal ones. `group:<name>:ids` (sorted set) has the
-- existing jobs with the score rank · BAND + sequence, so that terminal jobs come last. Both are deleted with the last job.

-- require callbacks

groups = part(function()
  local function group_key(name) return P .. 'group:' .. name end

  -- Marks a sealed group as ended when no job is left, and creates its callback delivery; does nothing if it is already marked.
  local function close(name)
    local key = group_key(name)
    local sealed, ended, waiting, delayed, running, completed, failed, cancelled, callback = unpack(call('HMGET', key,
      'sealed', 'ended', 'waiting', 'delayed', 'running', 'completed', 'failed', 'cancelled', 'callback'))
    if not sealed or ended or (waiting or 0) + (delayed or 0) + (running or 0) > 0 then return end
    call('HSET', key, 'ended', now)
    event('', 'group_ended', 'group', name, 'completed', completed or 0, 'failed', failed or 0, 'cancelled', cancelled or 0)
    if callback then
      callbacks().deliver('group', name, 'group.finished', callback, 'hash', cjson.encode(call('HGETALL', key)))
    end
  end

  -- Counts a job that changes from one state (none if it is new) to another.
  local function tally(job, old, state)
    local key, rank = group_key(job.group), TERMINAL[state] or 0
    if old then
      call('HINCRBY', key, old, -1)
    else
      call('HINCRBY', key, 'total', 1)
      call('HSETNX', key, 'created', now)
      -- `trim` asks jobs for their group only in a queue that ever had one.
      if not has_groups then call('HSET', META, 'grouped', 1) end
      has_groups = true
    end
    call('HINCRBY', key, state, 1)
    if not old or (TERMINAL[old] or 0) ~= rank or old == 'delayed' and job.tail then
      call('ZADD', key .. ':ids', whole(rank * BAND + job.score % BAND), job.id)
      if rank > 0 then closing[job.group] = true elseif old then call('HDEL', key, 'ended') end
    end
    if state == 'running' then call('HSETNX', key, 'started', now) end
  end

  -- Removes a deleted job from its group; `state` is set if the job was not terminal.
  local function remove(id, name, state)
    local key = group_key(name)
    call('ZREM', key .. ':ids', id)
    if state then
      call('HINCRBY', key, state, -1)
      call('HINCRBY', key, 'total', -1)
    end
    -- The group's hash may be deleted before the script ends, so close the group now.
    if state or closing[name] then close(name) end
    if call('EXISTS', key .. ':ids') == 0 then call('DEL', key) end
  end

  -- Seals a group (all its jobs have been pushed), and sets its callback URL if one is given. Returns `sealed`, `unknown` if
  -- there is no such group, or `taken` if it has ended or has another callback.
  local function seal(name, url)
    local key = group_key(name)
    if call('EXISTS', key) == 0 then return 'unknown' end
    if url and (call('HEXISTS', key, 'ended') == 1 or call('HSETNX', key, 'callback', url) == 0)
      and call('HGET', key, 'callback') ~= url then
      return 'taken'
    end
    if call('HSETNX', key, 'sealed', now) == 1 then
      event('', 'sealed', 'group', name)
      closing[name] = true
    end
    return 'sealed'
  end

  -- Why a job may not join a group; `nil` if it may.
  local function group_refusal(name)
    return call('HEXISTS', group_key(name), 'sealed') == 1
      and 'the group `' .. name .. '` is sealed, and no job can join it: give another' or nil
  end

  return { close = close, tally = tally, remove = remove, seal = seal, group_refusal = group_refusal, group_key = group_key }
end)
