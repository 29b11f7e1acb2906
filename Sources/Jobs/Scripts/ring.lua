-- Leaves a bell if there is something to claim. A worker calls this if it received a bell and cannot claim.
--
-- KEYS     the queue's `meta`; the other keys are derived from it (see meta.lua).
-- ARGV     none.
-- Answers  nothing.

-- require base

answer_bell()
ring()
save()
