-- Pushes jobs that were checked by the client straight to their place.
--
-- ARGV     nonce, index of the first job, then for each job: spec (JSON), options, dedup key or ''.
--          Options: '' for the usual, or `rank attempts start expires`, each `-` if it is not given; start and expires are
--          `+ms` from now or `@ms` since 1970.
-- Answers  an id for each job, with `=` before the id of another job that has the dedup key. The same nonce and index
--          get the same answer for 10 minutes.

local nonce, index = ARGV[1], tonumber(ARGV[2])
local once = P .. 'once:' .. nonce .. ':' .. index
local given = call('GET', once)
if given then
  local ids = {}
  for id in string.gmatch(given, '%S+') do ids[#ids + 1] = id end
  return ids
end

local total = (#ARGV - 2) / 3
local stem = '-' .. string.sub(nonce, 1, 8)
local at, ids, keys = NOW, {}, {}
repeat
  for i = 1, total do
    ids[i] = at .. stem .. index + i - 1
    keys[i] = P .. 'job:' .. ids[i]
  end
  at = at + 1
  if at > NOW + 1000 then return redis.error_reply('ERR the nonce `' .. nonce .. '` is not random') end
until call('EXISTS', unpack(keys)) == 0

local holders, answer = {}, {}
for i = 1, total do
  local key = ARGV[3 * i + 2]
  if key ~= '' then holders[key] = holder(key) end
end

local function moment(text)
  local sign, ms = string.match(text, '^([+@])(%d+)$')
  return sign and tonumber(ms) + (sign == '+' and NOW or 0)
end

for i = 1, total do
  local spec, text, key = ARGV[3 * i], ARGV[3 * i + 1], ARGV[3 * i + 2]
  local options = { rank = 1 }
  if text ~= '' then
    local rank, attempts, start, expires = string.match(text, '^(%S+) (%S+) (%S+) (%S+)$')
    options = { rank = tonumber(rank), attempts = tonumber(attempts), due = moment(start), expires = moment(expires) }
  end
  if holders[key] then
    answer[i] = '=' .. holders[key]
  else
    if key ~= '' then
      options.dedup = key
      holders[key] = ids[i]
    end
    place(ids[i], spec, options)
    answer[i] = ids[i]
  end
end
call('SET', once, table.concat(answer, ' '), 'PX', 600000)
ring()
save()
return answer
