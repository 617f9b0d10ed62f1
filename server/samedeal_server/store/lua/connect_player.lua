-- Gives a player's new connection the next generation, so that older connections can no longer commit moves.
-- Returns the generation, or 0 if there is no such room or the player has no seat in it.
-- No generation is used twice, even if an earlier room had the same code.
local meta_key, progress_key, events_key = unpack(KEYS)
-- packed_player is the part of a packed race that only a race with a seat of this player has. The generation goes between
-- event_head and event_tail. lifetime is in seconds.
local packed_player, event_head, event_tail, stream_length, lifetime, channel = unpack(ARGV)

local race = redis.call('HMGET', meta_key, 'phase', 'race')
if not race[1] or race[1] == 'closed' then
  return 0
end
-- The library cmsgpack cannot unpack a race, because it knows no binary strings.
if not string.find(race[2], packed_player, 1, true) then
  return 0
end
local now = clock()
local generation = next_number(redis.call('HGET', progress_key, 'generation') or 0, now)
redis.call('HSET', progress_key, 'generation', generation, 'last_seen', format_int(now), 'connected', 1)
redis.call('EXPIRE', progress_key, lifetime)
append_event(meta_key, events_key, channel, stream_length, now, event_head .. generation .. event_tail)
redis.call('EXPIRE', events_key, lifetime)
return tonumber(generation)
