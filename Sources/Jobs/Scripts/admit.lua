-- Keeps house: admits pushed jobs, promotes due ones, reaps lost leases.
--
-- ARGV     the worker's settings.
-- Answers  1 if there is more to admit or to promote, else 0.

arrive(ARGV[1])
local more = tend()
ring()
leave()
return more and 1 or 0
