-- Part of the scripts that admit pushed jobs: checks the options that the queue itself uses, and adds each job to its index.

-- require constants
-- require inbox
-- require groups
-- require callbacks
-- require endings

admission = part(function()
  -- The options of a job that are stored in its hash.
  local STORED = {
    attempts = true, expires = true, deadline = true, dedup = true, created = true, cut = true, group = true, limit_key = true,
    callback = true, traceparent = true,
  }
  local RANK = { high = 0, normal = 1, low = 2 }

  local function refuse(message) error({ refusal = message }) end

  -- A value cut to 100 bytes, with bytes outside printable ASCII replaced, for use in a message.
  local function shown(value)
    local clean = string.gsub(string.sub(value, 1, 100), '[^ -~]', '?')
    return #value > 100 and clean .. '…' or clean
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

  local function number(name, text, low, high)
    if not text then return nil end
    local value = not string.find(text, '[^%d%.eE+-]') and tonumber(text)
    if not value or value ~= value or value < low or value > high then
      refuse('`' .. name .. '` is `' .. shown(text) .. '`: it must be a number from ' .. low .. ' to ' .. high)
    end
    return value
  end

  -- A "did you mean" question with the field that differs from the name only in case, `_` and `-`; '' if there is none.
  local function hint(name)
    if #name > 64 then return '' end
    local plain = string.gsub(string.lower(name), '[_-]', '')
    for field in string.gmatch(FIELDS, '%S+') do
      if string.gsub(field, '_', '') == plain then return ' (did you mean `' .. field .. '`?)' end
    end
    return ''
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

  -- Returns the spec as JSON and the options that the queue uses. Raises an error with a `refusal` if a field is invalid. A job that
  -- is restored has waited already, and stays in its group.
  local function check(flat, is_restored)
    if #flat > 2 * MAX_FIELDS then refuse('the job has ' .. #flat / 2 .. ' fields, over the limit of ' .. MAX_FIELDS) end
    local fields, parts, bytes = {}, {}, 0
    for i = 1, #flat, 2 do
      local name, value = flat[i], flat[i + 1]
      -- Check the length first: pattern matching on a huge name is expensive.
      if #name > 64 or not string.find(name, '^[a-z_]+$') or not string.find(FIELDS, '\n' .. name .. '\n', 1, true) then
        refuse('unknown field `' .. shown(name) .. '`' .. hint(name) .. '; the fields are listed by `respool enqueue --help`')
      elseif fields[name] then
        refuse('the field `' .. name .. '` is given twice')
      elseif #value > MAX_VALUE then
        refuse('`' .. name .. '` is longer than ' .. MAX_VALUE .. ' bytes')
      end
      bytes = bytes + #name + #value
      fields[name] = value
    end
    if bytes > MAX_BYTES then refuse('the job has ' .. bytes .. ' bytes, over the limit of ' .. MAX_BYTES) end
    for i = 1, #flat, 2 do
      local name, value = flat[i], flat[i + 1]
      if string.find(value, '[%z\128-\255]') and not is_utf8(value) then refuse('`' .. name .. '` is not UTF-8 text') end
      parts[#parts + 1] = '"' .. name .. '":' .. quoted(value)
    end
    if (fields.source or '') == '' then refuse('`source` is missing: give the URL of the audio') end
    if (fields.format or '') == '' and not fields.outputs then refuse('`format` is missing: give the output format') end

    local options = { rank = RANK[fields.priority or 'normal'] }
    if not options.rank then
      refuse('`priority` is `' .. shown(fields.priority) .. '`: it must be high, normal or low')
    end
    local attempts = number('attempts', fields.attempts, 1, MAX_ATTEMPTS)
    if attempts and attempts % 1 ~= 0 then refuse('`attempts` is `' .. shown(fields.attempts) .. '`: it must be a whole number') end
    options.attempts = attempts
    number('timeout', fields.timeout, 1, MAX_TIMEOUT)
    local delay = number('delay', fields.delay, 0, MAX_DELAY)
    if delay and not is_restored then
      options.wait = math.floor(delay * 1000 + 0.5)
      options.due = NOW + options.wait
    end
    if fields.not_before then
      if delay then refuse('`delay` and `not_before` are mutually exclusive: give one') end
      options.due = instant(fields.not_before)
      if not options.due then
        refuse('`not_before` is `' .. shown(fields.not_before) .. '`: it must be an ISO 8601 instant, such as 2030-01-31T12:00:00Z')
      end
    end
    for _, name in ipairs({ 'expires', 'deadline' }) do
      local text = fields[name]
      if text then options[name] = instant(text) or NOW + math.floor(number(name, text, 0, MAX_DELAY) * 1000) end
    end
    if fields.dedup and (fields.dedup == '' or #fields.dedup > MAX_DEDUP) then
      refuse('`dedup` has ' .. #fields.dedup .. ' bytes: it must have 1 to ' .. MAX_DEDUP)
    end
    options.dedup = fields.dedup
    if fields.group then
      options.group = group_name(fields.group)
        or refuse('`group` is `' .. shown(fields.group) .. '`: it must be 1 to 64 of A-Z a-z 0-9 _ . -')
      local refusal = groups().group_refusal(options.group)
      if refusal and not is_restored then refuse(refusal) end
    end
    if fields.limit_key then
      if #fields.limit_key > 128 or not string.find(fields.limit_key, '^[%w_.:@-]+$') then
        refuse('`limit_key` is `' .. shown(fields.limit_key) .. '`: it must be 1 to 128 of A-Z a-z 0-9 _ . : @ -')
      end
      options.limit_key = fields.limit_key
    end
    if fields.callback and not callbacks().receiver(fields.callback) then
      refuse('`callback` is not valid: ' .. CALLBACK_RULE)
    end
    options.callback = fields.callback and 1
    if fields.traceparent and not is_trace_parent(fields.traceparent) then
      refuse('`traceparent` is `' .. shown(fields.traceparent) .. '`: ' .. TRACEPARENT_RULE)
    end
    options.traceparent = fields.traceparent
    return '{' .. table.concat(parts, ',') .. '}', options
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
      local refusal = type(spec) == 'table' and spec.refusal or 'the job cannot be read: ' .. tostring(spec)
      options = { rank = 1, refusal = refusal }
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
