-- Keeps the response to a request that a client may repeat with the same key.
--
-- `reply:<name>` (hash) has the fingerprint of the request and, while it is processed, its owner and since when, in ms; then the
-- response. A request that came to an unknown end may be repeated: its jobs get the same ids (see enqueue.lua).
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     verb, name, fingerprint, owner, then
--          reserve: ms after which another request with the same fingerprint may proceed, ms for which the key is kept;
--          store: the response, ms for which it is kept;
--          release: no more words; the same request may proceed at once;
--          remove: no more words; any request may proceed.
-- Answers  reserve: `reserved`, `busy`, `other` (the key was used with another fingerprint) or `stored <response>`;
--          else `done`, or `lost` if the owner is another one now.

local verb, name, fingerprint, owner = unpack(ARGV, 1, 4)
local key = P .. 'reply:' .. name
local earlier, holder, since, response = unpack(call('HMGET', key, 'fingerprint', 'owner', 'since', 'response'))
if verb == 'reserve' then
  local age = NOW - tonumber(since or 0)
  if earlier and earlier ~= fingerprint then return 'other' end
  if response then return 'stored ' .. response end
  if earlier and age >= 0 and age < tonumber(ARGV[5]) then return 'busy' end
  call('HSET', key, 'fingerprint', fingerprint, 'owner', owner, 'since', now)
  call('PEXPIRE', key, ARGV[6])
  return 'reserved'
end
if holder ~= owner then return 'lost' end
if verb == 'store' then
  call('HSET', key, 'response', ARGV[5])
  call('HDEL', key, 'owner', 'since')
  call('PEXPIRE', key, ARGV[6])
elseif verb == 'release' then
  call('HDEL', key, 'since')
else
  call('DEL', key)
end
return 'done'
