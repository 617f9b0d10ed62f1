-- Writes to a room without changing it. A replica that has this write also has every earlier write to the room.
-- Returns 1, or 0 if there is no such room.
local meta_key = KEYS[1]

if redis.call('EXISTS', meta_key) == 0 then
  return 0
end
redis.call('HSET', meta_key, 'touched', format_int(clock()))
return 1
