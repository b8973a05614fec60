-- Admit, in one call. The package comment gives the rules, memory_admit.go the
-- same steps in Go; a random test holds the two together. The line that sets
-- `now` (microseconds) is put before this text.
local META, STARTS, PLACES, OUT, QUEUE, DUE, PERMIT, TASK, RETRIES, CALLS = unpack(KEYS)
local id, claims, retry, ratio = ARGV[1], ARGV[2] == '1', ARGV[3] == '1', tonumber(ARGV[4])
local max_ms, limit, window, spacing, slack, flights, lease, lease_slack, guess, threshold,
  min_retries, budget, step, max_waiting, min_estimate, max_slack
do
  local n = {}
  for i = 5, 20 do n[i - 4] = tonumber(ARGV[i]) end
  max_ms, limit, window, spacing, slack, flights, lease, lease_slack, guess, threshold,
    min_retries, budget, step, max_waiting, min_estimate, max_slack = unpack(n)
end
local call = redis.call
local REFUSED, GO, WAIT = 0, 1, 2
local RATE, FLIGHT, HOLD, NO_FIT, CIRCUIT, BUDGET, ACTIVE = 1, 2, 3, 4, 5, 6, 7

-- keep lengthens a key's life to at least the given microseconds from now, and
-- then by a quarter more, so that not every call has to write it.
local function keep(key, us)
  local ms = math.ceil(us / 1000) + 1
  if call('PTTL', key) < ms then call('PEXPIRE', key, math.ceil(ms * 1.25)) end
end

-- from_end is the score of the n-th member from the end, or nil.
local function from_end(key, n)
  if n < 1 then return nil end
  local r = call('ZREVRANGE', key, n - 1, n - 1, 'WITHSCORES')
  return r[2] and tonumber(r[2])
end

-- 1. The permit: 'g' or 'w', end of life, then start and probe, or order and due.
local known, order, due = false, 0, 0
local breaker = 0 -- unsaid; 1 closed, 2 open, 3 half-open
do
  local rec = call('GET', PERMIT)
  if rec then
    local state, ends, a, b = string.match(rec, '^(%a) (%d+) (%d+) (%d+)$')
    if tonumber(ends) > now then
      if state == 'g' then return {GO, 0, 0, 0, tonumber(b)} end
      known, order, due = true, tonumber(a), tonumber(b)
    end
  end
end

-- 2. The task.
local owner, owned = nil, 0
if claims then
  local t = call('GET', TASK)
  if t then
    owner, owned = string.match(t, '^(%S+) (%d+)$')
    if tonumber(owned) <= now then owner = nil end
  end
end

-- refuse gives back what the permit had reserved.
local function refuse(reason, wait)
  if known then
    call('DEL', PERMIT)
    call('ZREM', PLACES, id)
    call('ZREM', QUEUE, id)
    call('ZREM', DUE, id)
    if budget > 0 then call('ZREM', RETRIES, id) end
    if owner == id then call('DEL', TASK) end
  end
  return {REFUSED, reason, wait or 0, breaker, 0}
end
if owner and owner ~= id then return refuse(ACTIVE) end

-- 3. The breaker.
local meta = call('HMGET', META, 'hold', 'open', 'openx', 'probe', 'probex', 'order', 'length', 'lengthx')
local hold, probing = tonumber(meta[1]) or 0, false
if threshold > 0 then
  breaker = 1
  local open = tonumber(meta[2]) or 0
  if open > 0 and tonumber(meta[3]) > now then
    if open > now then
      breaker = 2
      return refuse(CIRCUIT)
    end
    breaker = 3
    if meta[4] and meta[4] ~= '' and tonumber(meta[5]) > now then return refuse(CIRCUIT) end
    probing = true
  end
end

-- 4. The retry budget.
if retry and budget > 0 and not known then
  call('ZREMRANGEBYSCORE', RETRIES, '-inf', now - budget)
  local used = call('ZCARD', RETRIES) + 1
  if used > min_retries then
    local oldest, calls, all = math.ceil((now - budget) / step), 1, call('HGETALL', CALLS)
    for i = 1, #all, 2 do
      if tonumber(all[i]) >= oldest then calls = calls + tonumber(all[i + 1]) end
    end
    if used > ratio * calls then return refuse(BUDGET) end
  end
end

-- record writes the permit and the task's claim; both live until `ends`.
local function record(state, ends, a, b)
  local ms = math.ceil((ends - now) / 1000) + 1
  call('SET', PERMIT, string.format('%s %.0f %.0f %.0f', state, ends, a, b), 'PX', ms)
  if claims then call('SET', TASK, string.format('%s %.0f', id, ends), 'PX', ms) end
end

-- spend counts a retry at the time of its start.
local function spend(at)
  if retry and budget > 0 then
    call('ZADD', RETRIES, at, id)
    keep(RETRIES, at - now + budget)
  end
end

-- 5. Hold and rate.
call('ZREMRANGEBYSCORE', PLACES, '-inf', '(' .. string.format('%.0f', now - slack))
local place
if known then place = tonumber(call('ZSCORE', PLACES, id) or nil) end
if hold > now then
  local first = call('ZRANGE', PLACES, 0, 0, 'WITHSCORES')[2]
  if first and tonumber(first) < hold then
    local by, all = hold - tonumber(first), call('ZRANGE', PLACES, 0, -1, 'WITHSCORES')
    for i = 1, #all, 2 do call('ZADD', PLACES, tonumber(all[i + 1]) + by, all[i]) end
    keep(PLACES, tonumber(all[#all]) + by - now + max_slack)
    if place then place = place + by end
  end
end
-- last_place is the first place after all others.
local function last_place()
  local t = math.max(now, hold)
  if limit == 0 and hold <= now then return t end
  local taken = call('ZCARD', PLACES)
  if taken > 0 then t = math.max(t, from_end(PLACES, 1) + spacing) end
  if limit > 0 and taken >= limit then
    t = math.max(t, from_end(PLACES, limit) + window + slack)
  elseif limit > 0 then
    local start = from_end(STARTS, limit - taken)
    if start then t = math.max(t, start + window) end
  end
  return t
end
-- '~' remembers, as a negative score, the longest window that was asked for.
local longest = 0
if limit > 0 then
  longest = -(tonumber(call('ZSCORE', STARTS, '~') or nil) or 0)
  if call('ZREMRANGEBYSCORE', STARTS, 0, now - longest) > 0 and call('ZCARD', STARTS) == 1 then
    call('DEL', STARTS)
    longest = 0
  end
end
local t = now
if place and place > now then
  t = place
elseif known and hold <= now then
  local start = limit > 0 and from_end(STARTS, limit)
  if start and start + window > now then
    t = start + window
    local before = call('ZCOUNT', PLACES, '-inf', t)
    if place then before = before - 1 end
    if before < limit then
      t = from_end(STARTS, limit - before) + window
    else
      t = last_place()
    end
  end
else
  t = last_place()
end
if t > now then
  local ms = math.ceil((t - now) / 1000)
  if ms > max_ms then return refuse(NO_FIT, ms) end
  if not place and call('ZCARD', PLACES) >= max_waiting then return refuse(NO_FIT, -1) end
  call('ZADD', PLACES, t, id)
  keep(PLACES, t - now + max_slack)
  if order > 0 then
    call('ZREM', QUEUE, id)
    call('ZREM', DUE, id)
  end
  record('w', t + lease, 0, t)
  spend(t)
  return {WAIT, (hold > now or limit == 0) and HOLD or RATE, ms, breaker, 0}
end

-- 6. In flight.
if flights > 0 then
  call('ZREMRANGEBYSCORE', OUT, '-inf', now)
  for _, late in ipairs(call('ZRANGEBYSCORE', DUE, '-inf', now)) do call('ZREM', QUEUE, late) end
  call('ZREMRANGEBYSCORE', DUE, '-inf', now)
  local turn, last, out = order, tonumber(meta[6]) or 0, call('ZCARD', OUT)
  if turn == 0 and known then turn = due end
  if turn == 0 then turn = math.max(now, last + 1) end
  local free, ahead = flights - out, call('ZCOUNT', QUEUE, '-inf', '(' .. string.format('%.0f', turn))
  if ahead >= free then
    local missing = ahead - free + 1
    local length, first, nth = guess, now + lease, now + lease
    if out > 0 then
      local at = math.min(missing, out) - 1
      first = tonumber(call('ZRANGE', OUT, 0, 0, 'WITHSCORES')[2])
      nth = tonumber(call('ZRANGE', OUT, at, at, 'WITHSCORES')[2])
    end
    if meta[7] and tonumber(meta[8]) > now then
      length = tonumber(meta[7])
    else
      length = math.max(guess, now + lease - first)
    end
    local us = math.min(math.max(math.floor(length * 3 * missing / (4 * flights)), min_estimate), nth - now)
    local at = now + us
    if order > 0 and due > now then at = due end
    local ms = math.ceil((at - now) / 1000)
    if ms > max_ms then return refuse(NO_FIT, ms) end
    if order == 0 and call('ZCARD', QUEUE) >= max_waiting then return refuse(NO_FIT, -1) end
    call('ZADD', QUEUE, turn, id)
    call('ZADD', DUE, at + lease_slack, id)
    keep(QUEUE, at - now + lease_slack)
    keep(DUE, at - now + lease_slack)
    if turn > last then
      call('HSET', META, 'order', string.format('%.0f', turn))
      keep(META, lease)
    end
    call('ZREM', PLACES, id)
    record('w', at + lease, turn, at)
    spend(at)
    return {WAIT, FLIGHT, ms, breaker, 0}
  end
  call('ZADD', OUT, now + lease, id)
  keep(OUT, lease)
end

-- Go.
if known then
  call('ZREM', PLACES, id)
  call('ZREM', QUEUE, id)
  call('ZREM', DUE, id)
end
if limit > 0 then
  if window > longest then
    longest = window
    call('ZADD', STARTS, -window, '~')
  end
  local member = id .. string.format(' %.0f', now)
  while call('ZADD', STARTS, now, member) == 0 do member = member .. '+' end
  keep(STARTS, longest)
end
if probing then
  call('HSET', META, 'probe', id, 'probex', string.format('%.0f', now + lease))
  keep(META, lease)
end
if budget > 0 then
  local at = string.format('%.0f', math.floor(now / step))
  if call('HINCRBY', CALLS, at, 1) == 1 then
    local oldest = math.ceil((now - budget) / step)
    for _, old in ipairs(call('HKEYS', CALLS)) do
      if tonumber(old) < oldest then call('HDEL', CALLS, old) end
    end
    keep(CALLS, budget + step)
  end
end
spend(now)
record('g', now + lease, now, probing and 1 or 0)
return {GO, 0, 0, breaker, probing and 1 or 0}
