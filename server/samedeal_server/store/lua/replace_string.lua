-- Replaces the value of a string, unless it is no longer the expected one. An empty text stands for a missing key.
-- Returns 1, or 0 if nothing was changed.
local key = KEYS[1]
-- lifetime is in milliseconds.
local expected, value, lifetime = unpack(ARGV)

if (redis.call('GET', key) or '') ~= expected then
  return 0
end
if value == '' then
  redis.call('DEL', key)
else
  redis.call('SET', key, value, 'PX', lifetime)
end
return 1
