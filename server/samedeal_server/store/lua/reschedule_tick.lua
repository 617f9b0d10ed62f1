-- Schedules the next tick of a room, if the room is still overdue. Otherwise another node has scheduled it meanwhile.
-- Returns 1, or 0 if nothing was changed.
local due_key = KEYS[1]
-- Times are in milliseconds. now is the time at which the room was found to be overdue.
local room, now, next_tick = unpack(ARGV)

local due = redis.call('ZSCORE', due_key, room)
if not due or tonumber(due) > tonumber(now) then
  return 0
end
redis.call('ZADD', due_key, next_tick, room)
return 1
