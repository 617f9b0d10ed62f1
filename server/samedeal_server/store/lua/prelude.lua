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

-- Since version 7.0, Redis sends announcements only to the primary that has the room, and to its replicas. An older Redis
-- Cluster sends them to all of its nodes, and no node knows how many listeners there are in all.
local is_sharded = redis.REDIS_VERSION_NUM ~= nil

-- Returns whether any node listens to a room apart from the node that makes the call.
local function has_other_listeners(channel)
  return not is_sharded or redis.call('PUBSUB', 'SHARDNUMSUB', channel)[2] > 1
end

-- Appends an event to a room's stream, and announces it unless silent is true.
-- Returns the event's number, and the number of the event before it, which each event names.
-- event_time is when the event happened, by default now.
local function append_event(meta_key, events_key, channel, stream_length, now, event, event_time, silent)
  local time = format_int(event_time or now)
  local previous = redis.call('HGET', meta_key, 'last_event')
  local number = next_number(previous, now)
  redis.call('HSET', meta_key, 'last_event', number)
  redis.call('XADD', events_key, 'MAXLEN', '~', stream_length, number .. '-0',
    'previous', previous, 'time', time, 'event', event)
  if not silent then
    redis.call(is_sharded and 'SPUBLISH' or 'PUBLISH', channel, number .. ':' .. previous .. ':' .. time .. ':' .. event)
  end
  return number, previous
end

