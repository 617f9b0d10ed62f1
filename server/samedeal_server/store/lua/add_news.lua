-- Appends news to the stream, unless they are among the newest: the answer to a first try may have been lost.
local news_key = KEYS[1]
local news, length = unpack(ARGV)

for _, entry in ipairs(redis.call('XREVRANGE', news_key, '+', '-', 'COUNT', 20)) do
  if entry[2][2] == news then
    return 0
  end
end
redis.call('XADD', news_key, 'MAXLEN', '~', length, '*', 'news', news)
return 1
