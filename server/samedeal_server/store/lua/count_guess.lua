-- Counts a guess of a room's passphrase, if it may be compared.
-- Returns 1 if it may, or 0 if there were too many guesses. In that case nothing is counted.
local network_key, room_key = unpack(KEYS)
-- lifetime is in seconds.
local network_limit, room_limit, lifetime = unpack(ARGV)

local from_network = tonumber(redis.call('GET', network_key) or 0)
local from_all = tonumber(redis.call('GET', room_key) or 0)
if from_network >= tonumber(network_limit) then
  return 0
end
-- The guesses of other networks must not shut out a network that has not guessed wrong.
if from_network > 0 and from_all >= tonumber(room_limit) then
  return 0
end
for _, key in ipairs(KEYS) do
  redis.call('INCR', key)
  redis.call('EXPIRE', key, lifetime)
end
return 1
