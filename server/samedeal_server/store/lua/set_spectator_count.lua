-- Sets how many spectators watch a room through one node. Announces the total of all nodes if it changed.
-- Returns the total, or 0 if there is no such room.
local meta_key, spectators_key, events_key = unpack(KEYS)
-- node_count is valid for valid_ms milliseconds. The total is appended to event_head. lifetime is in seconds.
local node, node_count, valid_ms, event_head, stream_length, lifetime, channel = unpack(ARGV)

local phase = redis.call('HGET', meta_key, 'phase')
if not phase or phase == 'closed' then
  return 0
end
local now = clock()
local previous_total = redis.call('HGET', spectators_key, ':total')
redis.call('HSET', spectators_key, node, node_count .. ' ' .. format_int(now + tonumber(valid_ms)))
local fields = redis.call('HGETALL', spectators_key)
local total = 0
for i = 1, #fields, 2 do
  local count, valid_until = string.match(fields[i + 1], '^(%d+) (%d+)$')
  if count then
    if tonumber(valid_until) < now or count == '0' then
      redis.call('HDEL', spectators_key, fields[i])
    else
      total = total + tonumber(count)
    end
  end
end
redis.call('HSET', spectators_key, ':total', total)
redis.call('EXPIRE', spectators_key, lifetime)
if tonumber(previous_total or 0) ~= total then
  append_event(meta_key, events_key, channel, stream_length, now, event_head .. total)
  redis.call('EXPIRE', events_key, lifetime)
end
return total
