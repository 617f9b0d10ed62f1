-- Sends an event to everybody in a room.
-- Returns the number of the event, or 0 if there is no such room.
local meta_key, events_key = unpack(KEYS)
-- lifetime is that of the stream, in seconds.
local event, stream_length, lifetime, channel = unpack(ARGV)

local phase = redis.call('HGET', meta_key, 'phase')
if not phase or phase == 'closed' then
  return 0
end
local number = append_event(meta_key, events_key, channel, stream_length, clock(), event)
redis.call('EXPIRE', events_key, lifetime)
return number
