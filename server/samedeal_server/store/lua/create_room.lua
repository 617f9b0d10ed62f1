-- Opens a room, unless its code is taken.
-- Returns 1, or 0 if another room has this code. A repeated call with the same race returns 1 again.
local meta_key, secret_key, events_key, spectators_key = unpack(KEYS)
-- lifetime is in seconds. schema and engine are the versions of the stored data and of the rules.
local race, phase, seed, salt, hash, lifetime, schema, engine = unpack(ARGV)

local existing = redis.call('HGET', meta_key, 'race')
if existing then
  return existing == race and 1 or 0
end
-- An earlier room with this code may have left keys. Without DEL its events would precede those of the new room.
redis.call('DEL', meta_key, secret_key, events_key, spectators_key)
redis.call('HSET', meta_key, 'schema', schema, 'engine', engine, 'version', format_int(clock()),
  'race', race, 'phase', phase, 'starts', 0, 'ends', 0, 'last_event', 0)
redis.call('HSET', secret_key, 'seed', seed, 'salt', salt, 'hash', hash)
redis.call('EXPIRE', meta_key, lifetime)
redis.call('EXPIRE', secret_key, lifetime)
return 1
