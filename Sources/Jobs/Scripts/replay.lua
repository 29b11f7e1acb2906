-- Part of the scripts that return the same answer again to a client that lost the reply and repeats the call with its nonce.

-- The answer that was stored for a nonce. Its time to live is set again, because WAIT does not wait after a script that writes
-- nothing.
local function replay(nonce, ms)
  local key = P .. 'replay:' .. nonce
  local answer = call('GET', key)
  if answer then call('PEXPIRE', key, ms) end
  return answer
end

local function keep_for_replay(nonce, answer, ms) call('SET', P .. 'replay:' .. nonce, answer, 'PX', ms) end
