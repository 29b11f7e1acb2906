-- Part of the scripts that answer the same again to a client that lost their reply and sends its nonce once more.

-- The answer that was kept for a nonce. It is written again, for WAIT after a script that writes nothing would not wait.
local function replay(nonce, ms)
  local key = P .. 'replay:' .. nonce
  local answer = call('GET', key)
  if answer then call('PEXPIRE', key, ms) end
  return answer
end

local function keep_for_replay(nonce, answer, ms) call('SET', P .. 'replay:' .. nonce, answer, 'PX', ms) end
