-- Part of every script: the settings of a queue that no worker has used yet. A test compares them with Swift and prints the
-- expected text.

local DEFAULT_SETTINGS = '10000 3 10000 2000 600000 3600000'
local DEFAULT_RETENTION = 'completed 10000 604800000 failed 10000 2592000000 cancelled 1000 604800000 called 1000 604800000'
