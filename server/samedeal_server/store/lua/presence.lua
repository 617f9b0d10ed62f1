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
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSET', KEYS[2], 'here', ARGV[2] == '1' and now or 0)
if ARGV[3] ~= '' then
  local number = redis.call('HINCRBY', KEYS[1], 'event', 1)
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[4], number .. '-0', 'at', now, 'event', ARGV[3])
  redis.call('PUBLISH', ARGV[5], number .. ':' .. now .. ':' .. ARGV[3])
end
return tonumber(generation)
