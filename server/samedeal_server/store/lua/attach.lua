-- A player's connection becomes the only one that may commit. KEYS meta, run, events.
-- ARGV event head, event tail (the generation goes between), stream length, lifetime (s), channel.
-- Returns the generation.
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local generation = redis.call('HINCRBY', KEYS[2], 'generation', 1)
redis.call('HSET', KEYS[2], 'here', now)
redis.call('EXPIRE', KEYS[2], ARGV[4])
local event = ARGV[1] .. generation .. ARGV[2]
local number = redis.call('HINCRBY', KEYS[1], 'event', 1)
redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[3], number .. '-0', 'at', now, 'event', event)
redis.call('EXPIRE', KEYS[3], ARGV[4])
redis.call('PUBLISH', ARGV[5], number .. ':' .. now .. ':' .. event)
return generation
