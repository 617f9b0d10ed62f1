-- Schedules the next tick of a room, unless it is already scheduled for an earlier time that is still to come.
-- Returns 1, or 0 if nothing was changed.
local due_key = KEYS[1]
-- Times are in milliseconds. now is a time at which the room was found to be overdue, or is the present time.
local room, now, next_tick = unpack(ARGV)

local due = tonumber(redis.call('ZSCORE', due_key, room))
if not due or (due > tonumber(now) and due <= tonumber(next_tick)) then
  return 0
end
redis.call('ZADD', due_key, next_tick, room)
return 1
