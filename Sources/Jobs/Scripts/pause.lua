-- Pauses or resumes claims of the queue's jobs.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     `1` to pause, `0` to resume.
-- Answers  nothing.

-- require base

local pauses = ARGV[1]
begin()
if pauses == '1' then
  answer_bell()
  call('HSET', META, 'paused', 1)
else
  call('HDEL', META, 'paused')
  paused = nil
  ring()
end
event('', pauses == '1' and 'paused' or 'resumed')
save()
