-- Pushes jobs that were checked by the client straight to their place.
--
-- KEYS     the queue's `meta`; the other keys follow from it (see meta.lua).
-- ARGV     nonce, index of the first job, then for each job: spec (JSON), options.
--          Options: '' for the usual, or `rank attempts start expires group limit_key deadline callback dedup`, each `*` if
--          it is not given, but '' for dedup; start, expires and deadline are `+ms` from now or `@ms` since 1970; callback
--          is 1 if the job has one.
-- Answers  the time in the ids, which are `<time>-<8 characters of the nonce><index>`, then for each job whose dedup key
--          another one has, which it stands for, ` <n>=<id>` with n from 1. The same nonce and index get the same answer for
--          10 minutes. Or `!<n> <how many> <why>` if jobs are refused, the n-th, from 0, as the first; then none was pushed.

-- require base
-- require admission

local nonce, index = ARGV[1], tonumber(ARGV[2])
local total = (#ARGV - 2) / 2
local stem = '-' .. string.sub(nonce, 1, 8)
local once = P .. 'once:' .. nonce .. ':' .. index
local given = call('GET', once)
if given then
  -- Written, so that somebody who waits for replicas afterwards does not wait for nothing.
  call('PEXPIRE', once, '600000')
  return given
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

-- One table does for all jobs without options: it says what is to be known while one gets its place.
local usual = { rank = 1, is_usual = true, id = nil, key = nil, score = nil, state = nil }

local function parse(text)
  if text == '' then return usual end
  local rank, attempts, start, expires, group, limit, deadline, callback, dedup =
    string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  return {
    rank = tonumber(rank), attempts = tonumber(attempts), due = moment(start), expires = moment(expires),
    group = group ~= '*' and group or nil, limit_key = limit ~= '*' and limit or nil,
    deadline = moment(deadline), callback = callback ~= '*' and 1 or nil, dedup = dedup ~= '' and dedup or nil,
  }
end

local holders, all, refusals, duplicates = {}, {}, {}, {}
local first, refused = nil, 0
for i = 1, total do
  local options = parse(ARGV[2 * i + 2])
  local key, group = options.dedup, options.group
  if key then holders[key] = admission().holder(key) end
  if group then
    if refusals[group] == nil then refusals[group] = groups().group_refusal(group) or false end
    if refusals[group] then first, refused = first or i, refused + 1 end
  end
  all[i] = options
end
if first then return '!' .. first - 1 .. ' ' .. refused .. ' ' .. refusals[all[first].group] end

local specs = {}
for i = 1, total do
  local key = all[i].dedup
  local holder = key and holders[key]
  if holder then
    all[i] = nil
    duplicates[#duplicates + 1] = ' ' .. i .. '=' .. holder
  else
    if key then holders[key] = ids[i] end
    specs[#specs + 1], specs[#specs + 2] = P .. 'spec:' .. ids[i], ARGV[2 * i + 1]
  end
end
-- One command for all costs less than one for each.
if specs[1] then call('MSET', unpack(specs)) end
is_batch = true
local place = admission().place
for i = 1, total do
  usual.state = nil
  if all[i] then place(ids[i], keys[i], all[i]) end
end
apply()
local answer = string.match(ids[1], '^%d+') .. table.concat(duplicates)
call('SET', once, answer, 'PX', '600000')
ring()
save()
return answer
