-- Gives a player's new connection the next generation, so that older connections can no longer commit moves.
-- Returns the generation, or 0 if there is no such room or the player has no seat in it.
-- No generation is used twice, even if an earlier room had the same code.
local meta_key, progress_key, events_key = unpack(KEYS)
-- packed_player is the part of a packed race that names the player, up to the key of the name. The generation goes between
-- event_head and event_tail. lifetime is in seconds.
local packed_player, event_head, event_tail, stream_length, lifetime, channel = unpack(ARGV)

local race = redis.call('HMGET', meta_key, 'phase', 'race')
if not race[1] or race[1] == 'closed' then
  return 0
end
-- The library cmsgpack cannot unpack a race, because it knows no binary strings. A line in the table of a series names its
-- player too, but only a racer has a seat after the name, whose length is in one byte, or after 0xd9 in another.
local at = 1
repeat
  local _, last = string.find(race[2], packed_player, at, true)
  if not last then
    return 0
  end
  local size, long_size = string.byte(race[2], last + 1, last + 2)
  at = last + 2 + (size == 0xd9 and 1 + long_size or size - 0xa0)
until string.sub(race[2], at, at + 4) == '\164seat'
local now = clock()
local generation = next_number(redis.call('HGET', progress_key, 'generation') or 0, now)
redis.call('HSET', progress_key, 'generation', generation, 'last_seen', format_int(now), 'connected', 1)
redis.call('EXPIRE', progress_key, lifetime)
append_event(meta_key, events_key, channel, stream_length, now, event_head .. generation .. event_tail)
redis.call('EXPIRE', events_key, lifetime)
return tonumber(generation)
