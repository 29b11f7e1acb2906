-- Pushes jobs that were checked by the client straight to their place.
--
-- ARGV     nonce, index of the first job, then for each job: spec (JSON), options, dedup key or ''.
--          Options: '' for the usual, or `rank attempts start expires group limit_key deadline`, each `*` if it is not
--          given; start, expires and deadline are `+ms` from now or `@ms` since 1970.
-- Answers  an id for each job, with `=` before the id of another job that has the dedup key. The same nonce and index
--          get the same answer for 10 minutes. Or `!<n> <how many>`, `<why>` and nothing else if jobs are refused, the
--          n-th, from 0, as the first; then none was pushed.

local nonce, index = ARGV[1], tonumber(ARGV[2])
local total = (#ARGV - 2) / 3
local stem = '-' .. string.sub(nonce, 1, 8)
-- Of a call that was answered: the time in its ids, then the number of each duplicate and what it stands for.
local once = P .. 'once:' .. nonce .. ':' .. index
local given = call('GET', once)
if given then
  local ids, at = {}, string.match(given, '^%d+')
  for i = 1, total do ids[i] = at .. stem .. index + i - 1 end
  for i, first in string.gmatch(given, ' (%d+)(=%S+)') do ids[tonumber(i)] = first end
  return ids
end

local at, ids, keys = NOW, {}, {}
repeat
  local start = whole(at) .. stem
  for i = 1, total do
    ids[i] = start .. whole(index + i - 1)
    keys[i] = P .. 'job:' .. ids[i]
  end
  at = at + 1
  if at > NOW + 1000 then return redis.error_reply('ERR the nonce `' .. nonce .. '` is not random') end
until call('EXISTS', unpack(keys)) == 0

local function moment(text)
  local sign, ms = string.match(text, '^([+@])(%d+)$')
  return sign and tonumber(ms) + (sign == '+' and NOW or 0)
end

local function parse(text)
  if text == '' then return { rank = 1, id = nil, score = nil, state = nil } end
  local rank, attempts, start, expires, group, limit, deadline =
    string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  return {
    rank = tonumber(rank), attempts = tonumber(attempts), due = moment(start), expires = moment(expires),
    group = group ~= '*' and group or nil, limit_key = limit ~= '*' and limit or nil,
    deadline = moment(deadline),
  }
end

local holders, answer, all, refusals, duplicates = {}, {}, {}, {}, {}
local first, refused = nil, 0
for i = 1, total do
  local key, options = ARGV[3 * i + 2], parse(ARGV[3 * i + 1])
  if key ~= '' then holders[key] = holder(key) end
  local group = options.group
  if group then
    if refusals[group] == nil then refusals[group] = group_refusal(group) or false end
    if refusals[group] then first, refused = first or i, refused + 1 end
  end
  all[i] = options
end
if first then return { '!' .. first - 1 .. ' ' .. refused, refusals[all[first].group] } end

for i = 1, total do
  local spec, options, key = ARGV[3 * i], all[i], ARGV[3 * i + 2]
  if holders[key] then
    answer[i] = '=' .. holders[key]
    duplicates[#duplicates + 1] = ' ' .. i .. answer[i]
  else
    if key ~= '' then
      options.dedup = key
      holders[key] = ids[i]
    end
    place(ids[i], spec, options)
    answer[i] = ids[i]
  end
end
call('SET', once, string.match(ids[1], '^%d+') .. table.concat(duplicates), 'PX', 600000)
ring()
save()
return answer
