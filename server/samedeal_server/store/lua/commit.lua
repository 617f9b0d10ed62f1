-- Commits one action of one player: the only way in which a board changes.
-- KEYS meta, run, log, events.
-- ARGV 1 player, 2 generation, 3 revision it was made on, 4 request id, 5 action, 6 cards seen, 7 cards up, 8 moves,
-- 9 undos, 10 home (1 or 0), 11 over (1 or 0), 12 whether a first home ends the race, 13 event, 14 stream length,
-- 15 channel, 16 lifetime of a log (s), 17 when it was committed at first, for one that was acked and lost; empty for others.
-- Returns {'ok', now} | {'again', at, seen, up, moves, undos, action} | {'stale', revision} | {'fenced', generation}
-- | {'not_racing'} | {'time_up'} | {'done'} | {'no_room'}.
local race = redis.call('HMGET', KEYS[1], 'phase', 'starts', 'ends', 'out:' .. ARGV[1])
if not race[1] then
  return {'no_room'}
end
local run = redis.call('HMGET', KEYS[2], 'generation', 'revision', 'up', 'home', 'over')
if run[1] ~= ARGV[2] then
  return {'fenced', tonumber(run[1] or 0)}
end
local revision = tonumber(run[2] or 0)
local now = clock()
-- What was acked counts from when it was.
local made = tonumber(ARGV[17]) or now
local at = whole(made)
if revision ~= tonumber(ARGV[3]) then
  local id = (tonumber(ARGV[3]) + 1) .. '-0'
  local entry = redis.call('XRANGE', KEYS[3], id, id)[1]
  if entry and entry[2][2] == ARGV[4] and entry[2][4] == ARGV[5] then
    -- Something is written here too: who waits for replicas waits for those that have this, and so the entry.
    redis.call('HSET', KEYS[2], 'here', whole(now))
    return {'again', unpack(entry[2])}
  end
  return {'stale', revision}
end
if (race[1] ~= 'racing' and race[1] ~= 'countdown') or tonumber(race[2]) == 0 or made < tonumber(race[2]) then
  return {'not_racing'}
end
if made >= tonumber(race[3]) then
  return {'time_up'}
end
if race[4] or (run[4] and run[4] ~= '0') or (run[5] and run[5] ~= '0') then
  return {'done'}
end
revision = revision + 1
redis.call('HSET', KEYS[2], 'revision', revision, 'up', ARGV[7], 'moves', ARGV[8], 'undos', ARGV[9],
  'active', at, 'here', whole(now))
if (run[3] or '0') ~= ARGV[7] then
  redis.call('HSET', KEYS[2], 'risen', at)
end
if ARGV[10] == '1' then
  redis.call('HSET', KEYS[2], 'home', at)
  if ARGV[12] == '1' then
    redis.call('HSET', KEYS[1], 'ends', at)
  end
elseif ARGV[11] == '1' then
  redis.call('HSET', KEYS[2], 'over', at)
end
redis.call('XADD', KEYS[3], revision .. '-0', 'id', ARGV[4], 'action', ARGV[5], 'seen', ARGV[6], 'up', ARGV[7],
  'moves', ARGV[8], 'undos', ARGV[9], 'at', at)
if revision == 1 then
  redis.call('EXPIRE', KEYS[3], ARGV[16])
end
tell(KEYS[1], KEYS[4], ARGV[15], ARGV[14], now, ARGV[13], made)
return {'ok', at}
