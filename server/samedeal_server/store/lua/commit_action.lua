-- Commits one action of one player. No other script adds to a log.
-- Returns one of:
--   {'ok', committed_at, event_number, previous_event_number, is_announced}
--   {'repeated', committed_at}   this request was committed before
--   {'stale', revision}          the board is at another revision
--   {'fenced', generation}       the player has a newer connection, or no generation (then 0)
--   {'not_racing'}  {'time_up'}  {'already_finished'}  {'no_room'}
local meta_key, progress_key, log_key, events_key = unpack(KEYS)
-- base_revision is the board's revision just before the action. seen holds the cards that the action turned up. The counts
-- include the action. finished, no_moves_left and first_finish_ends are 1 or 0. lifetime is that of the log, in seconds.
-- original_time is the time at which a recovered action was first committed, and empty for any other action. own_limit is
-- the limit, in milliseconds, of a race with a window, where the player's clock began at a time of its own, and otherwise 0.
local player, generation, base_revision, request, action, seen, foundation_cards, moves, undos, finished, no_moves_left,
  first_finish_ends, event, stream_length, channel, lifetime, original_time, own_limit = unpack(ARGV)

local race = redis.call('HMGET', meta_key, 'phase', 'starts', 'ends', 'resigned:' .. player)
local phase, starts, ends, resigned = race[1], race[2], race[3], race[4]
if not phase then
  return {'no_room'}
end
local progress = redis.call('HMGET', progress_key,
  'generation', 'revision', 'foundation_cards', 'finished_at', 'no_moves_left_at', 'last_action_at', 'began_at')
local newest_generation, finished_at, no_moves_left_at, last_action_at = progress[1], progress[4], progress[5], progress[6]
if newest_generation ~= generation then
  return {'fenced', tonumber(newest_generation or 0)}
end
local revision = tonumber(progress[2] or 0)
local now = clock()
-- The clock can be set back, for example by a failover, but a player's actions must not go back in time. A recovered
-- action needs no such bound: its receipt proves that an earlier commit gave it this time, after the same actions.
local time = tonumber(original_time) or math.max(now, tonumber(last_action_at or 0))
local committed_at = format_int(time)
if revision ~= tonumber(base_revision) then
  local id = (tonumber(base_revision) + 1) .. '-0'
  local entry = redis.call('XRANGE', log_key, id, id)[1]
  -- The fields of an entry stand in the order in which they were added: request, action, committed_at.
  if entry and entry[2][2] == request and entry[2][4] == action then
    -- This write makes WAIT cover the entry: replicas that have it also have everything before it.
    redis.call('HSET', progress_key, 'last_seen', format_int(now), 'connected', 1)
    return {'repeated', entry[2][6]}
  end
  return {'stale', revision}
end
if own_limit ~= '0' then
  starts = progress[7] or 0
  ends = math.min(tonumber(ends), tonumber(starts) + tonumber(own_limit))
end
if (phase ~= 'racing' and phase ~= 'countdown') or tonumber(starts) == 0 or time < tonumber(starts) then
  return {'not_racing'}
end
if time >= tonumber(ends) then
  return {'time_up'}
end
if resigned or (finished_at and finished_at ~= '0') or (no_moves_left_at and no_moves_left_at ~= '0') then
  return {'already_finished'}
end
revision = revision + 1
redis.call('HSET', progress_key, 'revision', revision, 'foundation_cards', foundation_cards, 'moves', moves,
  'undos', undos, 'last_action_at', committed_at, 'last_seen', format_int(now), 'connected', 1)
if (progress[3] or '0') ~= foundation_cards then
  redis.call('HSET', progress_key, 'last_progress_at', committed_at)
end
if finished == '1' then
  redis.call('HSET', progress_key, 'finished_at', committed_at)
  if first_finish_ends == '1' then
    redis.call('HSET', meta_key, 'ends', committed_at)
  end
elseif no_moves_left == '1' then
  redis.call('HSET', progress_key, 'no_moves_left_at', committed_at)
end
redis.call('XADD', log_key, revision .. '-0', 'request', request, 'action', action, 'committed_at', committed_at,
  'seen', seen, 'foundation_cards', foundation_cards, 'moves', moves, 'undos', undos)
if revision == 1 then
  redis.call('EXPIRE', log_key, lifetime)
end
-- The node that commits the action applies the event itself. If the only listener is another node, because this one is
-- reconnecting, that node reads the event from the stream a few seconds later, as after any lost announcement.
local is_announced = has_other_listeners(channel)
local number, previous = append_event(meta_key, events_key, channel, stream_length, now, event, time, not is_announced)
return {'ok', committed_at, number, previous, is_announced and 1 or 0}
