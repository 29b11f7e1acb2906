-- Part of the scripts that leave jobs to claim: the bell, an entry of the inbox for which idle workers wait.

-- A client can push an entry with an id far in the future. All later ids would follow it, and after the greatest id no entry
-- could be added. Redis 8 cannot set a stream's last id back, so an empty inbox is deleted and created again.
local function reset_ids()
  if call('XLEN', IN) > 0 then return end
  call('DEL', IN)
  call('XGROUP', 'CREATE', IN, 'bell', 0, 'MKSTREAM')
end

-- Whether there are entries besides the bell. If a client deleted the bell, one entry counts as it until a worker answers it.
local function has_entries() return call('XLEN', IN) > (bell == '' and 0 or 1) end

-- Removes the bell from the inbox, if there is one.
local function answer_bell()
  local id = string.match(bell, '^%S+')
  if id then call('XDEL', IN, id) end
  bell = ''
end

-- Leaves one bell entry in the inbox if there is something to claim; the worker that claims removes it. The entry has to stay:
-- one that is added and deleted in the same script wakes every waiting worker, but none that starts to wait a moment later.
-- Every worker polls after at most one second, so a bell older than that was lost and is replaced.
local function ring()
  if paused then return end
  local age = NOW - (string.match(bell, '%d+$') or 0)
  if bell ~= '' and age >= 0 and age < 1000 or call('ZCARD', READY) == 0 then return end
  answer_bell()
  local rung = redis.pcall('XADD', IN, '*', '_bell', '1')
  if type(rung) == 'string' then bell = rung .. ' ' .. NOW else reset_ids() end
end
