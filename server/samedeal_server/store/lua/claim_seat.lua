-- Gives a player who comes to a tide the number of a room in which a seat is free, so that many who come at the same
-- moment are spread over the rooms. Whoever asks again soon gets the same number. The claim ends when it has expired.
-- Returns the number, or -1 if there is none.
local claims_key = KEYS[1]
-- The arguments after these seven say for each room, from number 0 on, who has a seat: "PLAYER ORIGIN PLAYER ORIGIN ...", or
-- "full". lifetime is in milliseconds.
local player, origin, seats, seats_of_origin, most_rooms, lifetime, expiry = unpack(ARGV)
local now = clock()
local rooms = {}
local function taken(room, who, from)
  if not room.players[who] then
    room.players[who] = true
    room.count = room.count + 1
    room.origins[from] = (room.origins[from] or 0) + 1
  end
end
local function at(number)
  rooms[number] = rooms[number] or { players = {}, origins = {}, count = 0 }
  return rooms[number]
end
for i = 8, #ARGV do
  local room = at(i - 8)
  room.full = ARGV[i] == 'full'
  for who, from in string.gmatch(ARGV[i], '(%S+) (%S+)') do
    taken(room, who, from)
  end
end
local own
local claims = redis.call('HGETALL', claims_key)
for i = 1, #claims, 2 do
  local number, from, until_time = string.match(claims[i + 1], '(%S+) (%S+) (%S+)')
  if tonumber(until_time) < now then
    redis.call('HDEL', claims_key, claims[i])
  elseif claims[i] == player then
    own = tonumber(number)
  else
    taken(at(tonumber(number)), claims[i], from)
  end
end
local function claim(number)
  redis.call('HSET', claims_key, player, number .. ' ' .. origin .. ' ' .. format_int(now + lifetime))
  redis.call('EXPIRE', claims_key, expiry)
  return number
end
local function is_free(number)
  local room = at(number)
  local has_seats = not room.full and room.count < tonumber(seats)
  return has_seats and (room.origins[origin] or 0) < tonumber(seats_of_origin)
end
if own and is_free(own) then
  return claim(own)
end
for number = 0, most_rooms - 1 do
  if is_free(number) then
    return claim(number)
  end
end
return -1
