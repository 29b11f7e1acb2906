-- Pushes jobs that the client has checked, directly to their index instead of the inbox.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     nonce, index of the first job, then for each job: spec (JSON), options (see options.lua).
-- Answers  the time in the ids, which are `<time>-<8 characters of the nonce><index>`, then ` <n>=<id>`, with n from 1, for
--          each job that is a duplicate: `id` is the job that holds its dedup key. The same nonce and index get the same answer
--          for 10 minutes.
--          If jobs are refused, `!<n> <how many> <why>`, where n, from 0, is the first of them; then none was pushed.

-- require base
-- require admission
-- require options
-- require replay

local nonce, first_index = unpack(ARGV, 1, 2)
local index = tonumber(first_index)
local total = (#ARGV - 2) / 2
local stem = '-' .. string.sub(nonce, 1, 8)
local batch, kept_ms = nonce .. ':' .. index, '600000'
local given = replay(batch, kept_ms)
if given then return given end

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

-- One table is shared by all jobs without options; it holds the job that is being placed.
local usual = { rank = 1, is_usual = true, id = nil, key = nil, score = nil, state = nil }

local holders, all, refusals, duplicates = {}, {}, {}, {}
local first, refused = nil, 0
for i = 1, total do
  local text = ARGV[2 * i + 2]
  local options = text == '' and usual or unpack_options(text)
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
-- One MSET for all costs less than a SET for each.
if specs[1] then call('MSET', unpack(specs)) end
is_batch = true
local place = admission().place
for i = 1, total do
  usual.state = nil
  if all[i] then place(ids[i], keys[i], all[i]) end
end
apply()
local answer = string.match(ids[1], '^%d+') .. table.concat(duplicates)
keep_for_replay(batch, answer, kept_ms)
ring()
save()
return answer
