-- Functions that all scripts share. The prelude is prepended to each script.

-- The time of this Redis, in milliseconds since 1970.
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- A time or an event number as decimal digits.
local function format_int(number)
  return string.format('%.0f', number)
end

-- Returns what follows a number: the time, or the next number if the time is not larger. Event numbers, versions and
-- generations therefore rise, and a Redis that lost its newest data does not use their values again.
local function next_number(number, now)
  return format_int(math.max(tonumber(number) + 1, now))
end

-- The command that announces events. Since version 7.0, Redis sends announcements only to the primary that has the room,
-- and to its replicas. An older Redis Cluster sends them to all of its nodes.
local publish_command = redis.REDIS_VERSION_NUM and 'SPUBLISH' or 'PUBLISH'

-- Appends an event to a room's stream and announces it. Returns the event's number.
-- Each event names the number of the event before it. event_time is when the event happened, by default now.
local function append_event(meta_key, events_key, channel, stream_length, now, event, event_time)
  local time = format_int(event_time or now)
  local previous = redis.call('HGET', meta_key, 'last_event')
  local number = next_number(previous, now)
  redis.call('HSET', meta_key, 'last_event', number)
  redis.call('XADD', events_key, 'MAXLEN', '~', stream_length, number .. '-0',
    'previous', previous, 'time', time, 'event', event)
  redis.call(publish_command, channel, number .. ':' .. previous .. ':' .. time .. ':' .. event)
  return number
end

