-- Dumps the keys of a room at one moment. The first key is the room's meta hash.
-- Returns for each key its dump and its remaining lifetime in milliseconds (-1 if it does not expire), or false twice if
-- there is no such key. Returns an empty list if the race is no longer at the given version.
local meta_key = KEYS[1]
local version = ARGV[1]

if redis.call('HGET', meta_key, 'version') ~= version then
  return {}
end
local dumps = {}
for i, key in ipairs(KEYS) do
  local dump = redis.call('DUMP', key)
  dumps[2 * i - 1] = dump
  dumps[2 * i] = dump and redis.call('PTTL', key)
end
return dumps
