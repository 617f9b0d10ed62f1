-- Opens a room if there is none of that code. KEYS meta, secret, events, watchers.
-- ARGV race, phase, seed, salt, hash, lifetime (s), layout, engine.
-- Returns 1, or 0 when there is another room of that code; run twice it returns 1 twice.
local race = redis.call('HGET', KEYS[1], 'race')
if race then
  return race == ARGV[1] and 1 or 0
end
-- What a room of that code has left behind would be in the way of the new one's first event.
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
redis.call('HSET', KEYS[1], 'layout', ARGV[7], 'engine', ARGV[8], 'version', 1, 'race', ARGV[1],
  'phase', ARGV[2], 'starts', 0, 'ends', 0, 'event', 0)
redis.call('HSET', KEYS[2], 'seed', ARGV[3], 'salt', ARGV[4], 'hash', ARGV[5])
redis.call('EXPIRE', KEYS[1], ARGV[6])
redis.call('EXPIRE', KEYS[2], ARGV[6])
return 1
