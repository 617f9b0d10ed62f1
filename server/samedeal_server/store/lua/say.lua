-- Says something to everybody in a room. KEYS meta, events.
-- ARGV event, stream length, lifetime (s), channel.
-- Returns the event's number, 0 where there is no such room.
local phase = redis.call('HGET', KEYS[1], 'phase')
if not phase or phase == 'closed' then
  return 0
end
local number = tell(KEYS[1], KEYS[2], ARGV[4], ARGV[2], clock(), ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return number
