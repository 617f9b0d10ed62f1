-- Opens a room if there is none of that code. KEYS meta, secret, events. ARGV race, phase, seed, salt, hash, lifetime (s).
-- Returns 1, or 0 when the room exists.
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
redis.call('HSET', KEYS[1], 'version', 1, 'race', ARGV[1], 'phase', ARGV[2], 'starts', 0, 'ends', 0, 'event', 0)
redis.call('HSET', KEYS[2], 'seed', ARGV[3], 'salt', ARGV[4], 'hash', ARGV[5])
redis.call('EXPIRE', KEYS[1], ARGV[6])
redis.call('EXPIRE', KEYS[2], ARGV[6])
return 1
