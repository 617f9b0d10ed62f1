-- Puts a race in the place of the version it was made from, or does nothing.
-- KEYS meta, events, then every other key of the room, to live as long.
-- ARGV version, race, phase, starts, ends, event, stream length, lifetime (s), players who are out, channel.
-- Returns the event's number, or 0 when another came first.
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'race', ARGV[2], 'phase', ARGV[3])
-- A first home that ended the race has set an end of its own, which stands.
if redis.call('HGET', KEYS[1], 'starts') ~= ARGV[4] then
  redis.call('HSET', KEYS[1], 'starts', ARGV[4], 'ends', ARGV[5])
end
redis.call('HINCRBY', KEYS[1], 'version', 1)
for player in string.gmatch(ARGV[9], '%S+') do
  redis.call('HSET', KEYS[1], 'out:' .. player, 1)
end
local number = tell(KEYS[1], KEYS[2], ARGV[10], ARGV[7], clock(), ARGV[6])
for _, key in ipairs(KEYS) do
  redis.call('EXPIRE', key, ARGV[8])
end
return number
