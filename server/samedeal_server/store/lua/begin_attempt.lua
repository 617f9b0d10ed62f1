-- Begins the attempt of a player in a race with a window. An attempt begins at most once.
-- Returns one of:
--   {'ok', began_at}   also if the attempt had begun before
--   {'fenced', generation}  {'not_racing'}  {'time_up'}  {'already_finished'}  {'no_room'}
local meta_key, progress_key, events_key = unpack(KEYS)
-- original_time is the time at which an attempt first began that Redis has lost, and otherwise empty.
local player, generation, event_head, stream_length, lifetime, channel, original_time = unpack(ARGV)

local race = redis.call('HMGET', meta_key, 'phase', 'starts', 'ends', 'resigned:' .. player)
local phase, starts, ends, resigned = race[1], race[2], race[3], race[4]
if not phase then
  return {'no_room'}
end
local progress = redis.call('HMGET', progress_key, 'generation', 'began_at')
if progress[1] ~= generation then
  return {'fenced', tonumber(progress[1] or 0)}
end
local now = clock()
if progress[2] and progress[2] ~= '0' then
  -- This write makes WAIT cover the attempt: replicas that have it also have everything before it.
  redis.call('HSET', progress_key, 'last_seen', format_int(now), 'connected', 1)
  return {'ok', progress[2]}
end
if (phase ~= 'racing' and phase ~= 'countdown') or tonumber(starts) == 0 then
  return {'not_racing'}
end
-- The clock can be set back, for example by a failover, but nobody begins before the deal was found.
local time = math.max(tonumber(original_time) or now, tonumber(starts))
if time >= tonumber(ends) then
  return {'time_up'}
end
if resigned then
  return {'already_finished'}
end
local began_at = format_int(time)
redis.call('HSET', progress_key, 'began_at', began_at, 'last_seen', format_int(now), 'connected', 1)
redis.call('EXPIRE', progress_key, lifetime)
append_event(meta_key, events_key, channel, stream_length, now, event_head .. began_at, time)
return {'ok', began_at}
