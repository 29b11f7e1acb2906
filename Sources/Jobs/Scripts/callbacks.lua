-- Part of the scripts that change jobs: the callbacks of jobs and groups that have ended.
--
-- `callback:<id>` (hash) is one delivery, with the content from the time it was created.
-- `callbacks:<receiver>` (sorted set) has the unfinished deliveries to a host. The score is when the delivery is due, in ms,
-- or, while it is being sent, when its sender's claim expires.
-- `calling:<receiver>` (set) has the deliveries that are being sent.
-- `callbacks` (sorted set) has the receivers; the score is when each is checked next.
-- `called` (sorted set, scores as in `done`) has the finished deliveries.

-- require constants
-- require endings

callbacks = part(function()
  local CALLED = P .. 'called'
  local MAX_CALLBACK_ATTEMPTS, MAX_WAITING, MAX_CONCURRENT, MAX_RECEIVERS = 20, 100000, 2, 10000

  -- The host of a callback URL; `nil` if the URL is not valid for a callback.
  local function receiver(url)
    if type(url) ~= 'string' or #url > MAX_CALLBACK or not string.find(url, '^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+$') then return nil end
    local host = string.lower(string.gsub(string.match(url, '^%a+://([^/?#]*)'), '^.*@', ''))
    return #host <= 300 and string.find(host, '^[%w_.:%[%]-]+$') and host or nil
  end

  -- Schedules the next check of a receiver: when its first delivery is due, or, while the maximum number of deliveries is being
  -- sent, when the first of these claims expires.
  local function schedule_receiver(host)
    local waiting, calling = P .. 'callbacks:' .. host, call('SMEMBERS', P .. 'calling:' .. host)
    local due = call('ZRANGE', waiting, 0, 0, 'WITHSCORES')[2]
    if not due then
      call('ZREM', CALLBACKS, host)
      return
    end
    if #calling >= MAX_CONCURRENT then
      due = math.huge
      for _, id in ipairs(calling) do due = math.min(due, tonumber(call('ZSCORE', waiting, id) or NOW)) end
    end
    call('ZADD', CALLBACKS, due, host)
  end

  -- Shortens the waits of some of a receiver's deliveries to their lengths: the clock may have been set back. Returns the position of
  -- the next ones, '0' if there are none, and how many it has read.
  local function shorten_waits(host, position)
    local waiting = P .. 'callbacks:' .. host
    local following, found = unpack(call('ZSCAN', waiting, position, 'COUNT', '256'))
    for i = 1, #found, 2 do
      local wait = tonumber(call('HGET', P .. 'callback:' .. found[i], 'wait') or nil)
      if wait and found[i + 1] - NOW > wait then call('ZADD', waiting, NOW + wait, found[i]) end
    end
    schedule_receiver(host)
    return following, #found / 2
  end

  -- Appends a line `<ms> <status or -> <ms that it took> <sentence>` to the log of a delivery; the last 20 lines are kept.
  local function logged(log, sentence, status, took)
    log = (log and log .. '\n' or '') .. NOW .. ' ' .. (status or '-') .. ' ' .. (took or 0) .. ' ' .. string.sub(sentence, 1, 300)
    local _, lines = string.gsub(log, '\n', '')
    return lines < 20 and log or string.match(log, '\n(.*)$')
  end

  -- Removes finished deliveries over the count or the age.
  local function prune_callbacks() endings().prune_index(CALLED, 'called', 'callback:') end

  -- Moves a delivery to a final state.
  local function conclude(id, state)
    local _, age = retention('called')
    call('ZADD', CALLED, stamp(), id)
    call('HSET', P .. 'callback:' .. id, 'state', state, 'ended', NOW)
    call('PEXPIRE', P .. 'callback:' .. id, age + 86400000)
    prune_callbacks()
  end

  -- Creates a delivery. `kind` is `job` or `group`; `...` are fields of its hash with the content.
  local function deliver(kind, name, what, url, ...)
    local host = receiver(url)
    if not host then return end
    -- Unique: no other delivery is created in this millisecond with this number of events.
    local id = NOW .. '-' .. string.sub(redis.sha1hex(P .. kind .. name .. ' ' .. events), 1, 12)
    local key, owner, waiting = P .. 'callback:' .. id, P .. kind .. ':' .. name, P .. 'callbacks:' .. host
    -- A job or group keeps the ids of its last eight deliveries.
    local earlier = string.sub(call('HGET', owner, 'called') or '', -7 * (#id + 1))
    call('HSET', owner, 'called', earlier .. id .. ' ')
    local details, refusal = { ... }, nil
    if call('ZCARD', waiting) >= MAX_WAITING then
      refusal = MAX_WAITING .. ' callbacks already wait for this host'
    elseif call('ZCARD', CALLBACKS) >= MAX_RECEIVERS and not call('ZSCORE', CALLBACKS, host) then
      refusal = 'callbacks already wait for ' .. MAX_RECEIVERS .. ' receivers'
    end
    if refusal then details = { 'log', logged(nil, refusal) } end
    call('HSET', key, kind, name, 'what', what, 'url', url, 'receiver', host, 'at', NOW, 'wait', 0, unpack(details))
    if refusal then
      conclude(id, 'failed')
      return
    end
    call('ZADD', waiting, NOW, id)
    if tonumber(call('ZSCORE', CALLBACKS, host) or math.huge) > NOW then schedule_receiver(host) end
  end

  -- Creates the delivery of a job that has just ended. It stores the job's current data, because the job may be retried or
  -- deleted before the delivery is sent.
  local function announce(job)
    local spec = call('GET', P .. 'spec:' .. job.id) or '{}'
    deliver('job', job.id, 'job.' .. job.state, job.url or cjson.decode(spec).callback,
      'hash', cjson.encode(call('HGETALL', P .. 'job:' .. job.id)), 'spec', spec, 'result', job.result or '')
  end

  return {
    receiver = receiver, schedule_receiver = schedule_receiver, shorten_waits = shorten_waits, logged = logged,
    prune_callbacks = prune_callbacks, conclude = conclude, deliver = deliver, announce = announce,
    MAX_CALLBACK_ATTEMPTS = MAX_CALLBACK_ATTEMPTS, MAX_CONCURRENT = MAX_CONCURRENT,
  }
end)
