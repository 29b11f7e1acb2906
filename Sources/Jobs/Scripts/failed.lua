-- End of every script. Redis undoes nothing of a script that fails half-way, so the queue counts it, and a worker repairs the queue
-- (see beat.lua). If nothing may be written, nothing was written.

if is_whole then return answer end
redis.pcall('HINCRBY', META, 'broken', '1')
-- Redis 7 gives `pcall` the error of a command as text, which would lose its code if it were raised again.
if string.find(answer, '^%u+ ') then return redis.error_reply(answer) end
error(answer, 0)
