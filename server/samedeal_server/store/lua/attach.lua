-- A player's connection becomes the only one that may commit. KEYS meta, run, events.
-- ARGV event head, event tail (the generation goes between), stream length, lifetime (s), channel.
-- Returns the generation, 0 where there is no such room. Generations start at the time, so that no room ever sees one that
-- an earlier room of its code had given.
local phase = redis.call('HGET', KEYS[1], 'phase')
if not phase or phase == 'closed' then
  return 0
end
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSETNX', KEYS[2], 'generation', now)
local generation = string.format('%.0f', redis.call('HINCRBY', KEYS[2], 'generation', 1))
redis.call('HSET', KEYS[2], 'here', now)
redis.call('EXPIRE', KEYS[2], ARGV[4])
local event = ARGV[1] .. generation .. ARGV[2]
local number = redis.call('HINCRBY', KEYS[1], 'event', 1)
redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[3], number .. '-0', 'at', now, 'event', event)
redis.call('EXPIRE', KEYS[3], ARGV[4])
redis.call('PUBLISH', ARGV[5], number .. ':' .. now .. ':' .. event)
return tonumber(generation)
