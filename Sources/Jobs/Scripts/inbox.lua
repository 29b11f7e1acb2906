-- Part of the scripts that admit jobs: reads the inbox, to which any client can write entries of any size.

-- require constants
-- require parts

inbox = part(function()
  local MAX_CALL_BYTES = 262144

  -- The cost of reading an entry: its bytes plus 16 for each name and value. An entry larger than a job may be costs the whole
  -- budget of a call, so it is the last that the call reads.
  local function cost(flat)
    local bytes = 0
    for _, text in ipairs(flat) do
      bytes = bytes + #text + 16
      if bytes > MAX_BYTES + 32 * MAX_FIELDS then return MAX_CALL_BYTES end
    end
    return bytes
  end

  -- How many entries may be read at once: the size of an entry is only known after reading it. MEMORY USAGE returns the mean of
  -- the first 16 nodes of the stream times the number of nodes. A node has up to 100 entries, so at 640 bytes an entry those 16
  -- nodes have at most 1 MiB, and they contain the first sixteen entries.
  local function safe_count()
    local bytes = redis.pcall('MEMORY', 'USAGE', IN, 'SAMPLES', '16')
    return type(bytes) == 'number' and bytes <= math.max(65536, 640 * call('XLEN', IN)) and 16 or 1
  end

  -- Calls a function with up to `count` entries after an id ('' for the start). Returns the id of the last, or '' if no more
  -- follow.
  local function walk(last, count, act)
    local bytes = 0
    for _ = 1, count do
      local entry = call('XRANGE', IN, last == '' and '-' or '(' .. last, '+', 'COUNT', '1')[1]
      if not entry then return '' end
      last = entry[1]
      act(last, entry[2])
      bytes = bytes + cost(entry[2])
      if bytes >= MAX_CALL_BYTES then break end
    end
    return last
  end

  -- The fields of an entry; `nil` if there is none with that id.
  local function find(id)
    -- A malformed id is an error.
    local found = redis.pcall('XRANGE', IN, id, id)[1]
    return type(found) == 'table' and found[2] or nil
  end

  -- The fields of an entry; if it is too large for a job, as much as is needed to display it.
  local function clipped(flat)
    if cost(flat) < MAX_CALL_BYTES then return flat end
    local kept = {}
    for i = 1, math.min(#flat, 2 * MAX_FIELDS) do kept[i] = string.sub(flat[i], 1, 256) end
    return kept
  end

  local function is_bell(flat) return #flat == 2 and flat[1] == '_bell' end

  -- Whether an entry seals a group.
  local function is_seal(flat) return flat[1] == '_seal' and (#flat == 2 or #flat == 4 and flat[3] == 'callback') end

  return {
    MAX_CALL_BYTES = MAX_CALL_BYTES, cost = cost, safe_count = safe_count, walk = walk, find = find, clipped = clipped,
    is_bell = is_bell, is_seal = is_seal,
  }
end)
