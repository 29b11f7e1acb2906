-- Part of the scripts that need more than `core`.

local PARKED, EXPIRING, PACED, CALLBACKS = P .. 'parked', P .. 'expiring', P .. 'paced', P .. 'callbacks'

-- The parts that follow, each a function that returns its interface. A script creates only the parts that it uses: creating
-- functions is most of the cost of a short script.
local callbacks, limits, endings, inbox, admission
local function part(make)
  local made
  return function()
    made = made or make()
    return made
  end
end

local lease, crashes, backoff_base, backoff_cap, retry_after_cap = string.match(settings, '^(%d+) (%d+) %d+ (%d+) (%d+) (%d+)')
local lease_ms, max_crashes = tonumber(lease), tonumber(crashes)
seq = tonumber(call('HGET', META, 'seq') or 0)
