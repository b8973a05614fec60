-- Report, in one call. memory_report.go has the same steps in Go. The line
-- that sets `now` (microseconds) is put before this text.
local META, PLACES, OUT, QUEUE, DUE, PERMIT, TASK, RETRIES = unpack(KEYS)
local id, outcome = ARGV[1], ARGV[2]
local announced, threshold, reset, forget, flights, lease =
  tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local call = redis.call

local meta = call('HMGET', META, 'hold', 'open', 'openx', 'fails', 'failsx', 'length', 'lengthx')
local hold, open, fails = tonumber(meta[1]) or 0, tonumber(meta[2]) or 0, tonumber(meta[4]) or 0
if open > 0 and tonumber(meta[3]) <= now then open = 0 end
if fails > 0 and tonumber(meta[5]) <= now then fails = 0 end

-- answer tells the hold's rest and the breaker's state.
local function answer(known, changed)
  local state = 0 -- unsaid; 1 closed, 2 open, 3 half-open
  if threshold > 0 then state = open == 0 and 1 or open > now and 2 or 3 end
  return {known, math.max(math.ceil((hold - now) / 1000), 0), state, changed}
end

local rec = call('GET', PERMIT)
if not rec then return answer(0, 0) end
local state, ends, start, probe = string.match(rec, '^(%a) (%d+) (%d+) (%d+)$')
if tonumber(ends) <= now then return answer(0, 0) end
call('DEL', PERMIT)
local task = call('GET', TASK)
if task and string.match(task, '^%S+') == id then call('DEL', TASK) end
if state == 'w' then
  call('ZREM', PLACES, id)
  call('ZREM', QUEUE, id)
  call('ZREM', DUE, id)
  call('ZREM', RETRIES, id)
  return answer(1, 0)
end
call('ZREM', OUT, id)

-- set writes fields of the resource; the key lives for at least `us` more.
local function set(us, ...)
  call('HSET', META, ...)
  local ms = math.ceil(us / 1000) + 1
  if call('PTTL', META) < ms then call('PEXPIRE', META, ms) end
end
local function text(n) return string.format('%.0f', n) end

if flights > 0 then
  local length = now - tonumber(start)
  if meta[6] and tonumber(meta[7]) > now then
    local before = tonumber(meta[6])
    length = before + math.floor((length - before) / 8)
  end
  set(lease + forget, 'length', text(length), 'lengthx', text(now + lease + forget))
end
if announced > 0 and now + announced > hold then
  hold = now + announced
  set(announced, 'hold', text(hold))
end

local changed = 0
local function trip()
  open, changed = now + reset, 1
  set(reset + forget, 'open', text(open), 'openx', text(open + forget), 'fails', '0', 'probe', '')
end
if probe == '1' then
  if threshold > 0 and outcome == 'failure' then
    trip()
  elseif threshold > 0 and outcome == 'success' then
    open, changed = 0, 1
    set(forget, 'open', '0', 'fails', '0', 'probe', '')
  else
    set(forget, 'probe', '')
  end
elseif threshold > 0 and open == 0 then
  if outcome == 'failure' then
    if fails + 1 >= threshold then
      trip()
    else
      set(forget, 'fails', text(fails + 1), 'failsx', text(now + forget))
    end
  elseif outcome == 'success' and fails > 0 then
    set(forget, 'fails', '0')
  end
end
return answer(1, changed)
