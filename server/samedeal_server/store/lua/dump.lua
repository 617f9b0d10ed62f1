-- Copies the keys of a room as they are at one moment. KEYS meta, then all others.
-- ARGV the version of the race that the keys were listed for.
-- Returns for each key its dump and the milliseconds that it still lives (-1 without end), false for both where there is no
-- such key; nothing when the race is at another version.
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then
  return {}
end
local copies = {}
for at, key in ipairs(KEYS) do
  copies[2 * at - 1] = redis.call('DUMP', key)
  copies[2 * at] = copies[2 * at - 1] and redis.call('PTTL', key)
end
return copies
