-- Replaces a race, unless another change came first. The last keys in KEYS belong to players who lost their seats: they
-- are deleted, so that no connection of these players may commit any more. Every other key gets the given lifetime.
-- Returns the number of the event. Returns 0 if the race is no longer at the given version, or if it would end without an
-- action that a player has committed meanwhile.
local meta_key, events_key, secret_key = KEYS[1], KEYS[2], KEYS[3]
-- starts and ends are 0 as long as the race can't start. lifetime is in seconds. resigned are the ids of the players who
-- resigned, separated by spaces. unseated is the number of keys to delete. deal is the joint deal (packed) if it has just
-- been found, and otherwise empty. If the change ends the race, revisions are the revisions to which its standings belong,
-- separated by spaces, and otherwise it is empty.
local version, race, phase, starts, ends, event, stream_length, lifetime, resigned, channel, unseated, deal, revisions =
  unpack(ARGV)

if redis.call('HGET', meta_key, 'version') ~= version then
  return 0
end
-- From the fifth key on, each player with a seat has two keys: the progress and the log.
local progress_index = 5
for revision in string.gmatch(revisions, '%d+') do
  if (redis.call('HGET', KEYS[progress_index], 'revision') or '0') ~= revision then
    return 0
  end
  progress_index = progress_index + 2
end
redis.call('HSET', meta_key, 'race', race, 'phase', phase)
-- If the first finish ended the race, commit_action.lua has set its end. That end must not be overwritten.
if redis.call('HGET', meta_key, 'starts') ~= starts then
  redis.call('HSET', meta_key, 'starts', starts, 'ends', ends)
end
if deal ~= '' then
  redis.call('HSET', secret_key, 'deal', deal)
end
local now = clock()
redis.call('HSET', meta_key, 'version', next_number(version, now))
for player in string.gmatch(resigned, '%S+') do
  redis.call('HSET', meta_key, 'resigned:' .. player, 1)
end
local number = append_event(meta_key, events_key, channel, stream_length, now, event)
for i, key in ipairs(KEYS) do
  if i > #KEYS - unseated then
    redis.call('DEL', key)
  else
    redis.call('EXPIRE', key, lifetime)
  end
end
return number
