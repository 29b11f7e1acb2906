-- Part of the scripts that admit pushed jobs: reads the options that the queue itself uses, and adds each job to its index. The worker
-- that claims a job checks all of its fields.

-- require constants
-- require inbox
-- require groups
-- require callbacks
-- require endings

admission = part(function()
  -- The options of a job that are stored in its hash.
  local STORED = {
    attempts = true, expires = true, deadline = true, dedup = true, created = true, cut = true, group = true, limit_key = true,
    callback = true, traceparent = true, error_fields = true,
    unusable = true,
  }
  local RANK = { high = 0, normal = 1, low = 2 }

  -- A text cut to 64 bytes, with bytes outside printable ASCII replaced, for use in a message.
  local function shown(text)
    local clean = string.gsub(string.sub(text, 1, 64), '[^ -~]', '?')
    return #text > 64 and clean .. '…' or clean
  end

  -- Replaces each well-formed sequence by a space: any byte from 128 that remains is not UTF-8.
  local function is_utf8(text)
    for _, pattern in ipairs({
      '[\194-\223][\128-\191]', '\224[\160-\191][\128-\191]', '[\225-\236\238\239][\128-\191][\128-\191]',
      '\237[\128-\159][\128-\191]', '\240[\144-\191][\128-\191][\128-\191]',
      '[\241-\243][\128-\191][\128-\191][\128-\191]', '\244[\128-\143][\128-\191][\128-\191]',
    }) do
      text = string.gsub(text, pattern, ' ')
    end
    return not string.find(text, '[%z\128-\255]')
  end

  local function quoted(text)
    if not string.find(text, '[^ !#-Z%[%]^-~]') then return '"' .. text .. '"' end
    return cjson.encode(text)
  end

  -- Converts an ISO 8601 instant with a time zone to milliseconds since 1970; `nil` if it is malformed.
  local function instant(text)
    local year, month, day, hour, minute, second, fraction, zone =
      string.match(text, '^(%d%d%d%d)-(%d%d)-(%d%d)T(%d%d):(%d%d):(%d%d)(%.?%d*)(.*)$')
    if not year or #text > 40 or string.find(fraction, '^%d') then return nil end
    year, month, day = tonumber(year), tonumber(month), tonumber(day)
    hour, minute, second = tonumber(hour), tonumber(minute), tonumber(second)
    local offset = 0
    if zone ~= 'Z' then
      local sign, hours, minutes = string.match(zone, '^([+-])(%d%d):?(%d%d)$')
      if not sign then return nil end
      offset = (hours * 60 + minutes) * (sign == '-' and -60 or 60)
    end
    local leap = year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
    local lengths = { 31, leap and 29 or 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }
    if not lengths[month] or day < 1 or day > lengths[month] or hour > 23 or minute > 59 or second > 59 then return nil end
    local days = 365 * (year - 1970) + math.floor((year - 1969) / 4) - math.floor((year - 1901) / 100)
      + math.floor((year - 1601) / 400) + day - 1
    for earlier = 1, month - 1 do days = days + lengths[earlier] end
    local ms = (((days * 24 + hour) * 60 + minute) * 60 + second - offset) * 1000
    return ms + math.floor((tonumber('0' .. fraction) or 0) * 1000 + 0.5)
  end

  local function number(text, low, high)
    local value = text and not string.find(text, '[^%d%.eE+-]') and tonumber(text)
    return value and value >= low and value <= high and value or nil
  end

  -- The name if it is valid for a group, else `nil`.
  local function group_name(text)
    return #text <= 64 and string.find(text, '^[%w_.-]+$') and text or nil
  end

  -- Whether the text is a `traceparent` of version 00 of W3C Trace Context.
  local function is_trace_parent(text)
    local trace, span = string.match(text, '^00%-([0-9a-f]+)%-([0-9a-f]+)%-[0-9a-f][0-9a-f]$')
    return trace and #trace == 32 and #span == 16 and string.find(trace, '[^0]') and string.find(span, '[^0]')
  end

  -- The fields by name, and as JSON. Raises an error with a `refusal` and the wrong `fields` if they cannot be stored.
  local function store(flat)
    if #flat > 2 * MAX_FIELDS then
      error({ refusal = 'the job has ' .. #flat / 2 .. ' fields, over the limit of ' .. MAX_FIELDS })
    end
    local fields, parts, wrong, bytes = {}, {}, {}, 0
    for i = 1, #flat, 2 do
      local name, value, message = flat[i], flat[i + 1], nil
      if #name > 64 or string.find(name, '[%z\128-\255]') and not is_utf8(name) then
        message = 'unknown field `' .. shown(name) .. '`; the fields are listed by `respool enqueue --help`'
      elseif fields[name] then
        message = 'the field `' .. shown(name) .. '` is given twice'
      elseif #value > MAX_VALUE then
        message = '`' .. shown(name) .. '` is longer than ' .. MAX_VALUE .. ' bytes'
      elseif string.find(value, '[%z\128-\255]') and not is_utf8(value) then
        message = '`' .. shown(name) .. '` is not UTF-8 text'
      else
        parts[#parts + 1] = quoted(name) .. ':' .. quoted(value)
        bytes = bytes + #name + #value
      end
      fields[name] = value
      if message then wrong[#wrong + 1] = { field = shown(name), message = message } end
    end
    if wrong[1] then
      local others = #wrong > 1 and ' (and ' .. #wrong - 1 .. ' more)' or ''
      local kept = { unpack(wrong, 1, math.min(#wrong, MAX_WRONG)) }
      while #cjson.encode(kept) > MAX_WRONG_BYTES do kept[#kept] = nil end
      error({ refusal = wrong[1].message .. others, fields = kept })
    end
    if bytes > MAX_BYTES then error({ refusal = 'the job has ' .. bytes .. ' bytes, over the limit of ' .. MAX_BYTES }) end
    return fields, '{' .. table.concat(parts, ',') .. '}'
  end

  -- Whether the fields have unknown names, or lack one that each job has.
  local function has_wrong_names(fields)
    for name in pairs(fields) do
      if not string.find(FIELDS, ' ' .. name .. ' ', 1, true) then return true end
    end
    return (fields.source or '') == '' or (fields.format or '') == '' and not fields.outputs
  end

  -- Returns the spec as JSON and the options that the queue uses. Raises an error with a `refusal` if the fields cannot be stored, or if
  -- the group is sealed. An option that the queue cannot use is left out and named as `unusable`. Such a job, or one with wrong names,
  -- is ready at once, and nothing else waits for it: the worker that claims it finds all wrong fields. A job that is restored has
  -- waited already, and stays in its group.
  local function check(flat, is_restored)
    local fields, spec = store(flat)
    local unusable = {}
    local function usable(name, value)
      if fields[name] and not value then unusable[#unusable + 1] = name end
      return value or nil
    end
    local function term(name)
      local text = fields[name]
      local wait = number(text, 0, MAX_DELAY)
      return usable(name, text and (instant(text) or wait and NOW + math.floor(wait * 1000)))
    end

    local attempts, dedup, key = number(fields.attempts, 1, MAX_ATTEMPTS), fields.dedup, fields.limit_key
    local options = {
      rank = usable('priority', RANK[fields.priority or 'normal']) or 1,
      attempts = usable('attempts', attempts and attempts % 1 == 0 and attempts),
      expires = term('expires'), deadline = term('deadline'),
      dedup = usable('dedup', dedup and dedup ~= '' and #dedup <= MAX_DEDUP and dedup),
      group = usable('group', fields.group and group_name(fields.group)),
      limit_key = usable('limit_key', key and #key <= 128 and string.find(key, '^[%w_.:@-]+$') and key),
      callback = usable('callback', fields.callback and callbacks().receiver(fields.callback) and 1),
      traceparent = usable('traceparent', fields.traceparent and is_trace_parent(fields.traceparent) and fields.traceparent),
    }
    local refusal = options.group and not is_restored and groups().group_refusal(options.group)
    if refusal then error({ refusal = refusal, fields = { { field = 'group', message = refusal } } }) end
    local delay = usable('delay', number(fields.delay, 0, MAX_DELAY))
    local start = usable('not_before', fields.not_before and instant(fields.not_before))
    if unusable[1] or has_wrong_names(fields) then
      options.unusable = unusable[1] and table.concat(unusable, ' ')
      options.dedup, options.limit_key, options.expires, options.deadline = nil, nil, nil, nil
    elseif start and not delay then
      options.due = start
    elseif delay and not start and not is_restored then
      options.wait = math.floor(delay * 1000 + 0.5)
      options.due = NOW + options.wait
    end
    return spec, options
  end

  -- What is kept of a refused job's fields: at most 1 KiB of printable ASCII. The second result is true if anything was cut.
  local function remains(flat)
    local kept, parts, room, cut = {}, {}, 1024, false
    for i = 1, math.min(#flat, 2 * MAX_FIELDS), 2 do
      local name = string.gsub(string.sub(flat[i], 1, 64), '[^ -~]', '?')
      local value = string.gsub(string.sub(flat[i + 1], 1, 1024), '[^ -~]', '?')
      cut = cut or name ~= flat[i] or value ~= flat[i + 1] or kept[name] ~= nil
      room = room - #name - #value
      if room < 0 then break end
      if not kept[name] then parts[#parts + 1] = quoted(name) .. ':' .. quoted(value) end
      kept[name] = true
    end
    return '{' .. table.concat(parts, ',') .. '}', cut or room < 0 or #flat > 2 * MAX_FIELDS
  end

  -- Stores the hash of a new job, of which only the options are known, and adds it to its index; its spec is already stored.
  local function place(id, key, job)
    seq = seq + 1
    note('pushed')
    local score = whole(job.rank * BAND + seq)
    job.id, job.key, job.score = id, key, score
    if job.is_usual then return to_waiting(job, 'score', score) end
    local more = { 'score', score }
    for name, value in pairs(job) do
      if STORED[name] then
        more[#more + 1] = name
        more[#more + 1] = value
      end
    end
    if job.dedup then call('SET', P .. 'dedup:' .. job.dedup, id) end
    if job.refusal then
      endings().fail(job, 'invalid_request', job.refusal, 0, unpack(more))
    elseif job.due and job.due > NOW then
      to_delayed(job, job.due, job.wait or '', unpack(more))
    else
      to_waiting(job, unpack(more))
    end
  end

  -- The id of the job that holds the dedup key; `nil` if there is none or if its hash is gone.
  local function holder(key)
    local id = key and call('GET', P .. 'dedup:' .. key)
    return id and call('EXISTS', P .. 'job:' .. id) == 1 and id or nil
  end

  -- The group that a refused job joins nevertheless; `nil` if it names no valid, unsealed group.
  local function joined(flat)
    for i = 1, math.min(#flat, 2 * MAX_FIELDS), 2 do
      local name = flat[i] == 'group' and group_name(flat[i + 1])
      if name then return not groups().group_refusal(name) and name or nil end
    end
  end

  -- The callback URL of a refused job, read from the pushed fields because the kept ones may be cut.
  local function callback_of(flat)
    for i = 1, math.min(#flat, 2 * MAX_FIELDS), 2 do
      if flat[i] == 'callback' then return callbacks().receiver(flat[i + 1]) and flat[i + 1] end
    end
  end

  local ALIASES = P .. 'aliases'

  -- Removes aliases (ids of duplicates) over the count or the age.
  local function prune_aliases() endings().prune_index(ALIASES, 'alias', 'alias:') end

  -- Admits one entry of the inbox; the caller deletes the entry.
  local function admit_entry(id, flat, is_restored)
    if inbox().is_bell(flat) then return end
    if inbox().is_seal(flat) then
      if group_name(flat[2]) then groups().seal(flat[2], callbacks().receiver(flat[4]) and flat[4]) end
      return
    end
    -- The id can exist already if a client chose it, or if an earlier admission was interrupted before it deleted the entry.
    if call('EXISTS', P .. 'job:' .. id) == 1 then return end
    local ok, spec, options = pcall(check, flat, is_restored)
    if not ok then
      local failure = type(spec) == 'table' and spec or { refusal = 'the job cannot be read: ' .. tostring(spec) }
      options = { rank = 1, refusal = failure.refusal, error_fields = failure.fields and cjson.encode(failure.fields) }
      spec, options.cut = remains(flat)
      options.cut = options.cut and 1 or nil
      options.group = joined(flat)
      options.url = callback_of(flat)
      options.callback = options.url and 1
    end
    local ms = tonumber(string.match(id, '^%d+'))
    -- The time in an id that a client chose may be wrong.
    if ms > NOW + 60000 or ms < 1500000000000 then options.created = NOW end
    local first = holder(options.dedup)
    if first then
      local _, age = retention('alias')
      call('SET', P .. 'alias:' .. id, first, 'PX', age)
      call('ZADD', ALIASES, stamp(), id)
      prune_aliases()
      event(id, 'duplicate', 'of', first)
    else
      call('SET', P .. 'spec:' .. id, spec)
      place(id, P .. 'job:' .. id, options)
    end
  end

  -- Admits up to 64 entries or 256 KiB. Returns whether more remain, the id of the last entry that was read, and whether its
  -- size ended the call. The bell is left in place.
  local function admit()
    local bell_id = string.match(bell, '^%S+')
    local from, admitted, bytes, last_cost, future = nil, 0, 0, 0, false
    while admitted < 64 and bytes < inbox().MAX_CALL_BYTES do
      local count = inbox().safe_count()
      local entries, ids = call('XRANGE', IN, from and '(' .. from or '-', '+', 'COUNT', count), {}
      for _, entry in ipairs(entries) do
        local id = entry[1]
        from = id
        if id ~= bell_id then
          admit_entry(id, entry[2])
          ids[#ids + 1] = id
          last_cost = inbox().cost(entry[2])
          bytes = bytes + last_cost
          future = future or tonumber(string.match(id, '^%d+')) > NOW + 86400000
          if bytes >= inbox().MAX_CALL_BYTES then break end
        end
      end
      if #ids > 0 then call('XDEL', IN, unpack(ids)) end
      admitted = admitted + #ids
      if #entries < count then break end
    end
    if future then
      answer_bell()
      reset_ids()
    end
    return admitted > 0 and has_entries(), from, last_cost >= inbox().MAX_CALL_BYTES
  end

  return {
    place = place, holder = holder, prune_aliases = prune_aliases, check = check, admit_entry = admit_entry,
    admit = admit,
  }
end)
