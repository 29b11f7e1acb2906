-- Prefix of every script: the clock and the queue's meta. The rest of the script is inside one function, because creating a Lua
-- function costs a search for each local of the same frame that it uses, but not for those of an outer frame.
--
-- KEYS[1]  the queue's `meta`. It always exists, so a cluster can route by it. All other keys have its prefix and hash tag;
--          they cannot be declared, because a job's id is known only after an index has been read.

-- require defaults

local call = redis.call
local META = KEYS[1]
local P = string.sub(META, 1, -5)
local IN, READY, LEASE, LIVE, EVENTS = P .. 'in', P .. 'ready', P .. 'lease', P .. 'live', P .. 'events'
-- While a cluster moves the hash slot to another node, access to a missing key raises an error, and the keys move one by one.
-- This reads a key that never exists, so that the script fails before it writes anything, and the client retries it.
call('EXISTS', P .. '-')
local seconds, microseconds = unpack(call('TIME'))
local milliseconds = math.floor(microseconds / 1000)
-- Redis formats a number argument with 17 digits, which takes longer than many commands; frequent values are kept as text.
local NOW, now = seconds * 1000 + milliseconds, seconds .. string.format('%03d', milliseconds)
local BAND = 2 ^ 44 -- ready's score is priority · BAND + sequence

local saved_events, saved_bell, paused, saved_settings, saved_seen, has_groups =
  unpack(call('HMGET', META, 'event', 'bell', 'paused', 'settings', 'seen', 'grouped'))
local events, bell = tonumber(saved_events or 0), saved_bell or ''
local settings = saved_settings or DEFAULT_SETTINGS .. ' ' .. DEFAULT_RETENTION
-- The last sequence number of a job; `nil` as long as the script did not need it.
local seq

local INDEX = {
  waiting = READY, delayed = P .. 'delayed', running = LEASE,
  completed = P .. 'done', failed = P .. 'failed', cancelled = P .. 'cancelled',
}
-- The terminal states and their rank in a group.
local TERMINAL = { failed = 1, cancelled = 2, completed = 3 }

-- What the parts leave for the end of the script: groups that may have no jobs left, the terminal states to trim, and whether a
-- job was unparked.
local closing, to_trim, has_unparked = {}, {}, false
-- Functions of the parts that only some scripts have.
local groups, trim
