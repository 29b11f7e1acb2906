-- Mends one key that an audit found to contradict others. It checks everything again, so a finding that is no longer true changes
-- nothing, and running jobs stay with their owners.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     the name of the key without the queue's prefix. For a group that is too large to be counted here, also the number of the
--          last event before the client counted it, then states and counts. Or `member:<group>`, and the id of a job that may not
--          belong to it. Or `broken`, and how many scripts had failed half-way when the repair of the whole queue began.
-- Answers  sentences: what was mended, or, after `! `, what is left as it is, and why.

-- require base
-- require inbox
-- require callbacks
-- require mending

local report, mended, cannot = mending().report, mending().mended, mending().cannot
local kind, name = string.match(ARGV[1], '^([^:]+):?(.*)$')
-- The maximum number of members that one call looks at.
local MAX_MEMBERS = 10000

-- Calls a function for the members of a sorted set, or says that there are too many.
local function each(key, act)
  local count = call('ZCARD', P .. key)
  if count > MAX_MEMBERS then
    cannot(key .. ' has ' .. count .. ' members, and only ' .. MAX_MEMBERS .. ' can be checked without blocking the queue')
    return false
  end
  for _, member in ipairs(call('ZRANGE', P .. key, 0, -1)) do act(member) end
  return true
end

local function drop(key, member, why, is_set)
  if is_set then call('SREM', P .. key, member) else call('ZREM', P .. key, member) end
  mended(member .. ' was removed from ' .. key .. ': ' .. why)
end

local mend = {}

function mend.job(id) mending().mend_job(id) end

-- Each of these belongs to a job.
function mend.spec(id) if call('EXISTS', P .. 'job:' .. id) == 0 then mending().mend_job(id) end end

mend.result, mend.log, mend.commit = mend.spec, mend.spec, mend.spec

function mend.dedup(key)
  local id = call('GET', P .. 'dedup:' .. key)
  if not id then return end
  local dedup, state = unpack(call('HMGET', P .. 'job:' .. id, 'dedup', 'state'))
  if dedup == key and state and not TERMINAL[state] then return end
  call('DEL', P .. 'dedup:' .. key)
  mended('the dedup key ' .. key .. ' was freed: ' .. id .. ' is not an unfinished job with it')
end

-- The state of a job of a group; removes one that does not belong to it.
local function member_state(group, id)
  local owner, state = unpack(call('HMGET', P .. 'job:' .. id, 'group', 'state'))
  if owner == group and state and INDEX[state] then return state end
  drop('group:' .. group .. ':ids', id, 'it is not a job of the group')
end

function mend.member(group)
  if call('ZSCORE', P .. 'group:' .. group .. ':ids', ARGV[2]) then member_state(group, ARGV[2]) end
end

function mend.group(text)
  local group = string.gsub(text, ':ids$', '')
  local key, found = groups().group_key(group), {}
  local ids = 'group:' .. group .. ':ids'
  if call('ZCARD', P .. ids) <= MAX_MEMBERS then
    for _, id in ipairs(call('ZRANGE', P .. ids, 0, -1)) do
      local state = member_state(group, id)
      if state then found[state] = (found[state] or 0) + 1 end
    end
  elseif tonumber(ARGV[2] or nil) == events then
    for i = 3, #ARGV, 2 do found[ARGV[i]] = tonumber(ARGV[i + 1]) end
  else
    cannot('the group ' .. group .. ' has over ' .. MAX_MEMBERS .. ' jobs, and the queue changed while they were counted: pause it, '
      .. 'and repeat the repair')
    return
  end
  local is_open = call('HEXISTS', key, 'sealed') == 1 and call('HEXISTS', key, 'ended') == 0
  -- The end of a sealed group is told, also if its jobs were deleted.
  if not next(found) and not is_open then
    if call('DEL', key, P .. ids) > 0 then mended('the group ' .. group .. ' has no jobs: its counts were deleted') end
    return
  end
  local total, left = 0, 0
  for state in pairs(INDEX) do
    local here, count = found[state] or 0, tonumber(call('HGET', key, state) or 0) or 0
    -- The counts include jobs that have ended and were deleted.
    local wanted = TERMINAL[state] and math.max(count, here) or here
    if wanted ~= count then
      call('HSET', key, state, wanted)
      mended('the group ' .. group .. ' counts ' .. wanted .. ' jobs as ' .. state .. ' now, instead of ' .. count)
    end
    total = total + wanted
    if not TERMINAL[state] then left = left + here end
  end
  if tonumber(call('HGET', key, 'total') or nil) ~= total then
    call('HSET', key, 'total', total)
    mended('the group ' .. group .. ' has a total of ' .. total .. ' now')
  end
  call('HSETNX', key, 'created', now)
  call('HSET', META, 'grouped', 1)
  local is_over = call('HEXISTS', key, 'sealed') == 1 and left == 0
  local is_ended = call('HEXISTS', key, 'ended') == 1
  if is_ended and not is_over then
    call('HDEL', key, 'ended')
    mended('the group ' .. group .. ' has not ended')
  elseif is_over and not is_ended then
    groups().close(group)
    mended('the group ' .. group .. ' has ended')
  end
end

-- Whether jobs are parked under a key, although none runs or is ready whose end would make the next one ready.
local function is_stalled(key)
  if call('EXISTS', P .. 'parked:' .. key) == 0 or call('SCARD', P .. 'limit:' .. key) > 0 or call('ZSCORE', PACED, key) then
    return false
  end
  for _, id in ipairs(call('ZRANGE', READY, 0, MAX_MEMBERS - 1)) do
    if call('HGET', P .. 'job:' .. id, 'limit_key') == key then return false end
  end
  return true
end

-- Only jobs that run under a key hold its permits, only its parked jobs are in its queue, and they do not wait for nothing.
local function mend_limit(key)
  for _, id in ipairs(call('SMEMBERS', P .. 'limit:' .. key)) do
    local own, state = unpack(call('HMGET', P .. 'job:' .. id, 'limit_key', 'state'))
    if own ~= key or state ~= 'running' then drop('limit:' .. key, id, 'it does not run under this key', true) end
  end
  local is_whole = each('parked:' .. key, function(id)
    local own, state, is_parked = unpack(call('HMGET', P .. 'job:' .. id, 'limit_key', 'state', 'parked'))
    if own ~= key or state ~= 'waiting' or not is_parked then drop('parked:' .. key, id, 'it is not parked under this key') end
  end)
  local count = 0
  if is_whole and is_stalled(key) then
    while count < 500 and not limits().is_full(key) and limits().unpark_next(key) do count = count + 1 end
    limits().pace(key)
  end
  if count > 0 then mended('jobs that were parked under ' .. key .. ' and may run: ' .. count) end
end

mend.limit = mend_limit

function mend.parked(key) if key ~= '' then mend_limit(key) end end

-- The sequence is at least that of every waiting job, and no two of them have the same place.
function mend.ready()
  local highest = seq
  for _, index in ipairs({ READY, PARKED }) do
    for rank = 0, 2 do
      local count = call('ZCOUNT', index, '-inf', '(' .. whole((rank + 1) * BAND))
      local last = count > 0 and call('ZRANGE', index, count - 1, count - 1, 'WITHSCORES')[2]
      if last then highest = math.max(highest, last % BAND) end
    end
  end
  if highest > seq then
    seq = highest
    mended('the sequence of jobs goes on after ' .. whole(seq))
  end
  local last
  local rows = call('ZRANGE', READY, 0, MAX_MEMBERS - 1, 'WITHSCORES')
  for i = 1, #rows, 2 do
    local id, score = rows[i], rows[i + 1]
    if score == last then
      seq = seq + 1
      local place = whole(math.floor(score / BAND) * BAND + seq)
      call('HSET', P .. 'job:' .. id, 'score', place)
      mending().mend_job(id)
    end
    last = score
  end
end

function mend.meta()
  local earlier, bells = bell, {}
  answer_bell()
  inbox().walk('', 1000, function(id, flat) if inbox().is_bell(flat) then bells[#bells + 1] = id end end)
  if bells[1] then call('XDEL', IN, unpack(bells)) end
  ring()
  if bells[1] or (earlier == '') ~= (bell == '') then mended('the bell in the inbox was set right') end
end

-- Sets the time to live that such a key has.
local function expires(ms)
  return function()
    if call('PTTL', P .. ARGV[1]) ~= -1 then return end
    call('PEXPIRE', P .. ARGV[1], ms)
    mended(ARGV[1] .. ' expires now')
  end
end

mend.replay, mend.worker, mend.reply, mend.rate = expires(600000), expires(600000), expires(86400000), expires(61000)
mend.alias, mend.stats = expires(604800000), expires(2678400000)

function mend.callback(id)
  local key = P .. 'callback:' .. id
  local state, host = unpack(call('HMGET', key, 'state', 'receiver'))
  if not host then return end
  local waiting = 'callbacks:' .. host
  if state then
    if call('HDEL', key, 'token') + call('SREM', P .. 'calling:' .. host, id) > 0 then mended('callback ' .. id .. ' is not being sent') end
    if call('ZSCORE', P .. waiting, id) then drop(waiting, id, 'it has finished') end
    if not call('ZSCORE', P .. 'called', id) then
      call('ZADD', P .. 'called', stamp(), id)
      mended('callback ' .. id .. ' was added to called')
    end
    if call('PTTL', key) == -1 then
      local _, _, ttl = retention('called')
      call('PEXPIRE', key, ttl)
      mended('callback:' .. id .. ' expires now')
    end
  else
    call('PERSIST', key)
    if call('ZSCORE', P .. 'called', id) then drop('called', id, 'it has not finished') end
    if not call('ZSCORE', P .. waiting, id) then
      call('ZADD', P .. waiting, NOW, id)
      mended('callback ' .. id .. ' is sent again')
    end
  end
  callbacks().schedule_receiver(host)
end

function mend.called()
  each('called', function(id)
    if call('EXISTS', P .. 'callback:' .. id) == 0 then drop('called', id, 'it does not exist') end
  end)
end

function mend.callbacks(host)
  if host == '' then
    each('callbacks', function(receiver)
      if call('EXISTS', P .. 'callbacks:' .. receiver) == 0 then drop('callbacks', receiver, 'no callback waits for it') end
    end)
    return
  end
  each('callbacks:' .. host, function(id)
    if call('HGET', P .. 'callback:' .. id, 'receiver') ~= host then drop('callbacks:' .. host, id, 'it does not belong there') end
  end)
  local was_known = call('ZSCORE', CALLBACKS, host)
  callbacks().schedule_receiver(host)
  if not was_known and call('ZSCORE', CALLBACKS, host) then mended('callbacks to ' .. host .. ' are sent again') end
end

function mend.calling(host)
  for _, id in ipairs(call('SMEMBERS', P .. 'calling:' .. host)) do
    if not call('HGET', P .. 'callback:' .. id, 'token') then drop('calling:' .. host, id, 'it is not being sent', true) end
  end
  callbacks().schedule_receiver(host)
end

function mend.schedules()
  each('schedules', function(schedule)
    if call('EXISTS', P .. 'schedule:' .. schedule) == 0 then drop('schedules', schedule, 'it is not a schedule') end
  end)
end

-- A schedule without a due time is paused; the client, which has time zones, resumes it.
function mend.schedule(schedule)
  if call('HEXISTS', P .. 'schedule:' .. schedule, 'revision') == 0 then
    cannot('the schedule ' .. schedule .. ' is not whole: remove it, and add it again')
  elseif not call('ZSCORE', P .. 'schedules', schedule) then
    call('ZADD', P .. 'schedules', '+inf', schedule)
    mended('the schedule ' .. schedule .. ' has a due time again')
  end
end

-- A script that has failed since then is for the next repair.
function mend.broken()
  if call('HGET', META, 'broken') == ARGV[2] then call('HDEL', META, 'broken', 'repair') end
end

begin()
if mend[kind] then mend[kind](name) else cannot(ARGV[1] .. ' is no key of the queue: delete it if nothing else needs it') end
ring()
save()
return report
