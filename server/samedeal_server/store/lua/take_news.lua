-- Takes the next news for a group of consumers: news that a node took too long ago, or else news that nobody took.
-- All nodes are one consumer, because Redis would remember the name of each node for ever.
-- Creates the group if it is missing; its first news is then the next one.
-- Returns the id and the packed news, or nothing.
local news_key = KEYS[1]
-- abandoned is in milliseconds.
local group, abandoned = unpack(ARGV)

redis.pcall('XGROUP', 'CREATE', news_key, group, '$', 'MKSTREAM')
local found = redis.call('XAUTOCLAIM', news_key, group, group, abandoned, '0-0', 'COUNT', 1)[2]
if not found[1] then
  local read = redis.call('XREADGROUP', 'GROUP', group, group, 'COUNT', 1, 'STREAMS', news_key, '>')
  found = read and read[1][2] or {}
end
local entry = found[1]
if entry and entry[2] then
  return {entry[1], entry[2][2]}
end
return {}
