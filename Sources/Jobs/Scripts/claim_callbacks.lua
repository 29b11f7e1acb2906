-- Claims due deliveries: at most two per receiver over all senders at a time, the receiver that has been due longest first.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     token, maximum number, duration of the claim in ms.
-- Answers  a list for each: {id, attempt, `job` or `group`, its name, event type, URL, when the job or group ended in ms, hash
--          (JSON), spec (JSON), result (JSON), now in ms}; spec and result are empty for a group, and the result for a job
--          without one.
--          The same token gets the same deliveries again, except those that it no longer owns.

-- require base
-- require callbacks
-- require replay

local token, most, ms = unpack(ARGV)
local count, term = tonumber(most), tonumber(ms)
local answer, taken = {}, {}
local DELIVERY_FIELDS = { 'token', 'log', 'attempt', 'job', 'group', 'what', 'url', 'at', 'hash', 'spec', 'result' }

local function read_delivery(id)
  local delivery = { id = id }
  local values = call('HMGET', P .. 'callback:' .. id, unpack(DELIVERY_FIELDS))
  for i, name in ipairs(DELIVERY_FIELDS) do delivery[name] = values[i] end
  return delivery
end

-- The fields in the order in which Swift decodes `Callback`.
local function packed(delivery)
  local job = delivery.job
  return {
    delivery.id, delivery.attempt, job and 'job' or 'group', job or delivery.group, delivery.what, delivery.url, delivery.at,
    delivery.hash or '[]', delivery.spec or '', delivery.result or '', NOW,
  }
end

local given = replay(token, term)
if given then
  for id in string.gmatch(given, '%S+') do
    local delivery = read_delivery(id)
    if delivery.token == token then answer[#answer + 1] = packed(delivery) end
  end
  return answer
end

-- Claims one delivery. Returns whether its record exists.
local function take(id, host)
  local key, delivery = P .. 'callback:' .. id, read_delivery(id)
  if not delivery.url then return false end
  delivery.attempt = (delivery.attempt or 0) + 1
  if delivery.token then
    local log = callbacks().logged(delivery.log, 'the worker was lost before it reported the result of this attempt')
    call('HSET', key, 'log', log)
  end
  call('HSET', key, 'attempt', delivery.attempt, 'token', token, 'wait', term)
  call('ZADD', P .. 'callbacks:' .. host, NOW + term, id)
  call('SADD', P .. 'calling:' .. host, id)
  answer[#answer + 1] = packed(delivery)
  taken[#taken + 1] = id
  return true
end

local function claim_from(host)
  local waiting, calling = P .. 'callbacks:' .. host, P .. 'calling:' .. host
  for _, id in ipairs(call('SMEMBERS', calling)) do
    if tonumber(call('ZSCORE', waiting, id) or 0) <= NOW then call('SREM', calling, id) end
  end
  local room = math.min(callbacks().MAX_CONCURRENT - call('SCARD', calling), count - #answer)
  if room > 0 then
    for _, id in ipairs(call('ZRANGEBYSCORE', waiting, '-inf', NOW, 'LIMIT', 0, room)) do
      if not take(id, host) then call('ZREM', waiting, id) end
    end
  end
  callbacks().schedule_receiver(host)
end

begin()
for _, host in ipairs(call('ZRANGEBYSCORE', CALLBACKS, '-inf', NOW, 'LIMIT', 0, 64)) do
  if #answer >= count then break end
  claim_from(host)
end
if #taken > 0 then keep_for_replay(token, table.concat(taken, ' '), term) end
return answer
