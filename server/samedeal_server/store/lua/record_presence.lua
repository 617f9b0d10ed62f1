-- Records whether a player's newest connection is still open. Does nothing for an older connection.
-- Returns the player's newest generation, or -1 if the player has none or there is no such room.
local meta_key, progress_key, events_key = unpack(KEYS)
-- connected is 1 or 0. event is empty if nothing is to be announced.
local generation, connected, event, stream_length, channel = unpack(ARGV)

local newest = redis.call('HGET', progress_key, 'generation')
if redis.call('EXISTS', meta_key) == 0 then
  return -1
end
if newest ~= generation then
  return tonumber(newest or -1)
end
local now = clock()
redis.call('HSET', progress_key, 'last_seen', format_int(now), 'connected', connected)
if event ~= '' then
  append_event(meta_key, events_key, channel, stream_length, now, event)
end
return tonumber(newest)
