-- Part of the scripts that receive jobs from a client that has checked them: the options that the queue itself uses.
--
-- `JobOptions` in Swift packs them as one text: '' for the defaults, or `rank attempts start expires group limit_key deadline
-- callback traceparent dedup`, each `*` if it is not given, except that dedup is ''. start, expires and deadline are `+ms` from now or
-- `@ms` since 1970; callback is 1 if the job has one.

local function moment(text)
  local sign, ms = string.match(text, '^([+@])(%d+)$')
  return sign and tonumber(ms) + (sign == '+' and NOW or 0) or nil
end

local function unpack_options(text)
  if text == '' then return { rank = 1 } end
  local rank, attempts, start, expires, group, limit_key, deadline, callback, traceparent, dedup =
    string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  return {
    rank = tonumber(rank), attempts = tonumber(attempts), due = moment(start),
    wait = tonumber(string.match(start, '^%+(%d+)$')), expires = moment(expires),
    group = group ~= '*' and group or nil, limit_key = limit_key ~= '*' and limit_key or nil,
    deadline = moment(deadline), callback = callback ~= '*' and 1 or nil,
    traceparent = traceparent ~= '*' and traceparent or nil, dedup = dedup ~= '' and dedup or nil,
  }
end
