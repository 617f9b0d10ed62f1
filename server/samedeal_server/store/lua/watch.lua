-- Notes how many watch a room through one node. KEYS meta, watchers, events.
-- ARGV node, how many, milliseconds for which that holds, event head, stream length, lifetime (s), channel.
-- Returns how many watch through all nodes, 0 where there is no such room; tells it as an event where it changed.
local phase = redis.call('HGET', KEYS[1], 'phase')
if not phase or phase == 'closed' then
  return 0
end
local now = clock()
local before = redis.call('HGET', KEYS[2], ':all')
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2] .. ' ' .. whole(now + tonumber(ARGV[3])))
local fields = redis.call('HGETALL', KEYS[2])
local all = 0
for i = 1, #fields, 2 do
  local count, holds = string.match(fields[i + 1], '^(%d+) (%d+)$')
  if count then
    if tonumber(holds) < now or count == '0' then
      redis.call('HDEL', KEYS[2], fields[i])
    else
      all = all + tonumber(count)
    end
  end
end
redis.call('HSET', KEYS[2], ':all', all)
redis.call('EXPIRE', KEYS[2], ARGV[6])
if tonumber(before or 0) ~= all then
  tell(KEYS[1], KEYS[3], ARGV[7], ARGV[5], now, ARGV[4] .. all)
  redis.call('EXPIRE', KEYS[3], ARGV[6])
end
return all
