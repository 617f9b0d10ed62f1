-- Writes something that changes nothing, so that replicas that have it have all that was written to the room before.
-- KEYS meta. Returns 1, or 0 where there is no such room.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], 'confirmed', whole(clock()))
return 1
