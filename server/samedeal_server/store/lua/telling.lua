-- What all scripts share; it stands before each.

-- Milliseconds since 1970 by this Redis.
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- A time or a number of an event as it is written.
local function whole(number)
  return string.format('%.0f', number)
end

-- Makes an event the newest one of a room and announces it. Numbers rise, and are times where they can be, so that a Redis
-- that has lost the newest events never gives their numbers to others; each event names the one before it.
-- ``at`` is when it happened, unless that is now. Returns its number.
local function tell(meta, events, channel, length, now, event, at)
  at = at or now
  local before = redis.call('HGET', meta, 'event')
  local number = whole(math.max(tonumber(before) + 1, now))
  redis.call('HSET', meta, 'event', number)
  redis.call('XADD', events, 'MAXLEN', '~', length, number .. '-0', 'after', before, 'at', whole(at), 'event', event)
  redis.call('PUBLISH', channel, number .. ':' .. before .. ':' .. whole(at) .. ':' .. event)
  return number
end

