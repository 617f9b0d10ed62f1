-- Says that a player's newest connection is still there, or is gone. KEYS meta, run, events.
-- ARGV generation, here (1 or 0), event (empty for none), stream length, channel.
-- Returns the present generation, -1 where there is none or no such room; does nothing when it is another.
local generation = redis.call('HGET', KEYS[2], 'generation')
if redis.call('EXISTS', KEYS[1]) == 0 then
  return -1
end
if generation ~= ARGV[1] then
  return tonumber(generation or -1)
end
local now = clock()
redis.call('HSET', KEYS[2], 'here', whole(ARGV[2] == '1' and now or -now))
if ARGV[3] ~= '' then
  tell(KEYS[1], KEYS[3], ARGV[5], ARGV[4], now, ARGV[3])
end
return tonumber(generation)
