-- Says something to everybody in a room. KEYS meta, events.
-- ARGV event, stream length, lifetime (s), channel.
-- Returns the event's number, 0 where there is no such room.
local phase = redis.call('HGET', KEYS[1], 'phase')
if not phase or phase == 'closed' then
  return 0
end
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local number = redis.call('HINCRBY', KEYS[1], 'event', 1)
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[2], number .. '-0', 'at', now, 'event', ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[3])
redis.call('PUBLISH', ARGV[4], number .. ':' .. now .. ':' .. ARGV[1])
return number
