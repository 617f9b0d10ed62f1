-- A player's connection becomes the only one that may commit. KEYS meta, run, events.
-- ARGV event head, event tail (the generation goes between), stream length, lifetime (s), channel.
-- Returns the generation, 0 where there is no such room. Generations rise, and are times where they can be, so that none is
-- ever one that an earlier room of the code has given, or a Redis that has lost what was newest.
local phase = redis.call('HGET', KEYS[1], 'phase')
if not phase or phase == 'closed' then
  return 0
end
local now = clock()
local generation = math.max(tonumber(redis.call('HGET', KEYS[2], 'generation') or 0) + 1, now)
redis.call('HSET', KEYS[2], 'generation', whole(generation), 'here', whole(now))
redis.call('EXPIRE', KEYS[2], ARGV[4])
tell(KEYS[1], KEYS[3], ARGV[5], ARGV[3], now, ARGV[1] .. whole(generation) .. ARGV[2])
redis.call('EXPIRE', KEYS[3], ARGV[4])
return generation
