-- Part of every script: the callbacks of jobs and groups that are over.
--
-- `callback:<id>` (hash) is one delivery, with what was to be told when it was made; `callbacks:<receiver>` (sorted set) has
-- those of a host that are not over, with when each is due, in ms, or until when whoever sends it may; `calling:<receiver>`
-- (set) those that are being sent; `callbacks` (sorted set) the receivers, with when each is to be looked at next; `called`
-- (sorted set, scores as in `done`) deliveries that are over.

-- require endings

callbacks = part(function()
  local CALLED = P .. 'called'
  local MAX_CALLBACK_ATTEMPTS, MAX_WAITING, MAX_CONCURRENT, MAX_RECEIVERS = 20, 100000, 2, 10000

  -- The host that a callback goes to; nothing if it is no URL that can be called.
  local function receiver(url)
    if type(url) ~= 'string' or #url > MAX_CALLBACK or not string.find(url, '^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+$') then return nil end
    local host = string.lower(string.gsub(string.match(url, '^%a+://([^/?#]*)'), '^.*@', ''))
    return #host <= 300 and string.find(host, '^[%w_.:%[%]-]+$') and host or nil
  end

  -- Schedules when a receiver is looked at next: when its first delivery is due, or, while as many are being sent as may be, when
  -- one of these would be lost.
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

  -- The log of a delivery with one more line, `<ms> <status or -> <ms that it took> <sentence>`; the last 20 are kept.
  local function logged(log, sentence, status, took)
    log = (log and log .. '\n' or '') .. NOW .. ' ' .. (status or '-') .. ' ' .. (took or 0) .. ' ' .. string.sub(sentence, 1, 300)
    local _, lines = string.gsub(log, '\n', '')
    return lines < 20 and log or string.match(log, '\n(.*)$')
  end

  -- Prunes the finished deliveries that are too many or too old.
  local function prune_callbacks() endings().prune_index(CALLED, 'called', 'callback:') end

  -- Ends a delivery.
  local function conclude(id, state)
    local _, age = endings().retention('called')
    call('ZADD', CALLED, endings().stamp(), id)
    call('HSET', P .. 'callback:' .. id, 'state', state, 'ended', NOW)
    call('PEXPIRE', P .. 'callback:' .. id, age + 86400000)
    prune_callbacks()
  end

  -- Makes a delivery; `kind` is `job` or `group`, and `...` are what is told, as fields of its hash.
  local function deliver(kind, name, what, url, ...)
    local host = receiver(url)
    if not host then return end
    -- Nothing else ends in this millisecond with this number of events.
    local id = NOW .. '-' .. string.sub(redis.sha1hex(P .. kind .. name .. ' ' .. events), 1, 12)
    local key, owner, waiting = P .. 'callback:' .. id, P .. kind .. ':' .. name, P .. 'callbacks:' .. host
    -- An owner knows its last eight.
    local earlier = string.sub(call('HGET', owner, 'called') or '', -7 * (#id + 1))
    call('HSET', owner, 'called', earlier .. id .. ' ')
    local told, refusal = { ... }, nil
    if call('ZCARD', waiting) >= MAX_WAITING then
      refusal = MAX_WAITING .. ' callbacks wait for this host already'
    elseif call('ZCARD', CALLBACKS) >= MAX_RECEIVERS and not call('ZSCORE', CALLBACKS, host) then
      refusal = 'callbacks of ' .. MAX_RECEIVERS .. ' receivers wait already'
    end
    if refusal then told = { 'log', logged(nil, refusal) } end
    call('HSET', key, kind, name, 'what', what, 'url', url, 'receiver', host, 'at', NOW, unpack(told))
    if refusal then
      conclude(id, 'failed')
      return
    end
    call('ZADD', waiting, NOW, id)
    if tonumber(call('ZSCORE', CALLBACKS, host) or math.huge) > NOW then schedule_receiver(host) end
  end

  -- Makes the delivery of a job that has just ended, and tells all that is known of it now: it may be retried or deleted before
  -- anybody sends this.
  local function announce(job)
    local spec = call('GET', P .. 'spec:' .. job.id) or '{}'
    deliver('job', job.id, 'job.' .. job.state, job.url or cjson.decode(spec).callback,
      'hash', cjson.encode(call('HGETALL', P .. 'job:' .. job.id)), 'spec', spec, 'result', job.result or '')
  end

  return {
    receiver = receiver, schedule_receiver = schedule_receiver, logged = logged, prune_callbacks = prune_callbacks, conclude = conclude,
    deliver = deliver, announce = announce, MAX_CALLBACK_ATTEMPTS = MAX_CALLBACK_ATTEMPTS, MAX_CONCURRENT = MAX_CONCURRENT,
  }
end)
