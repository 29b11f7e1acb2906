-- Changes schedules and pushes their jobs.
--
-- `schedules` (sorted set) has when each schedule is due next, in ms, or infinity while it is paused.
-- `schedule:<name>` (hash) has cron, zone, spec (JSON), revision, and of its last job the due time (last) and the id (job).
-- Scripts have no time zone data: the worker that finds a schedule due passes the next due time, and the due time and revision that
-- it read.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     verb, name, then for
--          put: next due, revision, cron, zone, spec, `1` to replace one of that name; a repeated revision changes nothing, and a
--            paused schedule stays paused;
--          fire: the due time and the revision that were read, next due, nonce, date and time for the spec;
--          run: nonce, date and time for the spec; repeated with the same nonce, gets the same answer;
--          move: the revision that was read, next due or `+inf` to pause;
--          remove: no more words.
-- Answers  `unknown`; for fire and run the job's id; `late` if it was fired or changed since it was read; `taken` if put may not
--          replace one; else `done`.

-- require base
-- require admission

local verb, name = unpack(ARGV, 1, 2)
local SCHEDULES, key = P .. 'schedules', P .. 'schedule:' .. name
local revision, spec, ran = unpack(call('HMGET', key, 'revision', 'spec', 'ran'))

-- The fields of a job for that date and time. Raises an error if the spec is invalid, so it is called before anything is
-- written.
local function filled(date, time)
  local flat = {}
  for field, value in pairs(cjson.decode(spec)) do
    flat[#flat + 1] = field
    flat[#flat + 1] = string.gsub(string.gsub(value, '{date}', date), '{time}', time)
  end
  return flat
end

-- Pushes a job as if it came from the inbox, so that it is checked by the current rules.
local function push(flat, due, nonce)
  local id = NOW .. '-' .. string.sub(nonce, 1, 8) .. '0'
  admission().admit_entry(id, flat)
  id = resolve(id)
  call('HSET', key, 'last', due, 'job', id)
  ring()
  save()
  return id
end

if verb == 'put' then
  local next_due, new_revision, cron, zone, new_spec, replaces = unpack(ARGV, 3)
  if revision == new_revision then return 'done' end
  if revision and replaces ~= '1' then return 'taken' end
  call('HSET', key, 'revision', new_revision, 'cron', cron, 'zone', zone, 'spec', new_spec)
  -- A paused schedule that is corrected stays paused.
  if call('ZSCORE', SCHEDULES, name) ~= 'inf' then call('ZADD', SCHEDULES, next_due, name) end
elseif not revision then
  return 'unknown'
elseif verb == 'fire' then
  local seen_due, seen_revision, next_due, nonce, date, time = unpack(ARGV, 3)
  if call('ZSCORE', SCHEDULES, name) ~= seen_due or revision ~= seen_revision then return 'late' end
  local flat = filled(date, time)
  call('ZADD', SCHEDULES, next_due, name)
  return push(flat, seen_due, nonce)
elseif verb == 'run' then
  local nonce, date, time = unpack(ARGV, 3)
  local given = answered(ran, nonce)
  if given then return given end
  local id = push(filled(date, time), NOW, nonce)
  call('HSET', key, 'ran', nonce .. ' ' .. id)
  return id
elseif verb == 'move' then
  local seen_revision, next_due = unpack(ARGV, 3)
  if revision ~= seen_revision then return 'late' end
  begin()
  -- Only a paused schedule is resumed: an occurrence that is due stays due.
  if next_due == '+inf' or call('ZSCORE', SCHEDULES, name) == 'inf' then call('ZADD', SCHEDULES, next_due, name) end
else
  call('DEL', key)
  call('ZREM', SCHEDULES, name)
end
return 'done'
