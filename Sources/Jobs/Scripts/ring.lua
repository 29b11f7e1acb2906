-- Leaves a bell if there is something to claim: for a worker that took one and cannot claim.
--
-- KEYS     the queue's `meta`; the other keys follow from it (see meta.lua).
-- ARGV     none.
-- Answers  nothing.

-- require base

answer_bell()
ring()
save()
