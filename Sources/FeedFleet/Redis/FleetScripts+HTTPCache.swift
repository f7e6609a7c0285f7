/// The scripts of ``RedisHTTPCache``.
///
/// Keys in addition to the fleet's other keys:
/// - `c:<key>`, a hash: the head of each response by its number, and `n`, which changes with each change of the hash;
///   `cb:<number>`, the body of a response;
/// - `cu`, a sorted set: the numbers by their last use; `ci`, a hash: bytes and key of each; `cm`, a hash of counters.
///
/// If another program deletes `cu`, `ci` or `cm`, the next change empties the cache. If both `cu` and `ci` are deleted,
/// nothing lists the responses: each is kept, uncounted, until its key changes.
extension FleetScripts {
  private static let dropping = """
    local function forget(k, id)
      redis.call('HDEL', p .. 'c:' .. k, id)
      if redis.call('HLEN', p .. 'c:' .. k) <= 1 then redis.call('DEL', p .. 'c:' .. k) end
    end
    -- Deletes a response, even one of which only a part is left.
    local function drop(id)
      redis.call('ZREM', p .. 'cu', id)
      redis.call('DEL', p .. 'cb:' .. id)
      local info = redis.call('HGET', p .. 'ci', id)
      if not info then return end
      local bytes, k = string.match(info, '^(%d+) (.*)$')
      redis.call('HINCRBY', p .. 'cm', 'total', -tonumber(bytes))
      redis.call('HDEL', p .. 'ci', id)
      forget(k, id)
    end
    -- Counts up from the time at which counting began, so that no number is used again even if the counters are lost.
    local function number(name)
      if redis.call('HEXISTS', p .. 'cm', name) == 0 then redis.call('HSET', p .. 'cm', name, whole(raw * 1000)) end
      return whole(redis.call('HINCRBY', p .. 'cm', name, 1))
    end
    local function use(id) redis.call('ZADD', p .. 'cu', number('uses'), id) end

    """

  /// Arguments: the numbers of responses.
  static let cacheUse = script(
    "cacheUse",
    dropping + """
      for i = 1, last do
        if redis.call('HEXISTS', p .. 'ci', ARGV[i]) == 1 then use(ARGV[i]) end
      end
      return 1
      """)

  /// Changes a key, if it has not changed since it was read. Arguments: key, the earlier `n`, `remove`, `save` or
  /// `freshen`, capacity, head, bytes (for `freshen`, the growth), body, and the numbers of the responses to change.
  static let cacheChange = script(
    "cacheChange",
    dropping + """
      local c = p .. 'c:' .. ARGV[1]
      if (redis.call('HGET', c, 'n') or '') ~= ARGV[2] then return 0 end
      local known, total = redis.call('HLEN', p .. 'ci'), tonumber(redis.call('HGET', p .. 'cm', 'total') or '0')
      if redis.call('ZCARD', p .. 'cu') ~= known or (known > 0) ~= (total > 0) then
        for _, id in ipairs(redis.call('ZRANGE', p .. 'cu', 0, -1)) do drop(id) end
        for _, id in ipairs(redis.call('HKEYS', p .. 'ci')) do drop(id) end
        redis.call('HSET', p .. 'cm', 'total', 0)
      end
      local final = last
      local function count(id, bytes)
        redis.call('HSET', p .. 'ci', id, whole(bytes) .. ' ' .. ARGV[1])
        redis.call('HSET', c, 'n', number('n'), id, ARGV[5])
        use(id)
      end
      if ARGV[3] == 'freshen' then
        local id = ARGV[final]
        final = final - 1
        local info = redis.call('HGET', p .. 'ci', id)
        -- It has made room for another key's meanwhile.
        if not info then
          drop(id)
          forget(ARGV[1], id)
          return 0
        end
        count(id, string.match(info, '^%d+') + ARGV[6])
        redis.call('HINCRBY', p .. 'cm', 'total', ARGV[6])
      end
      for i = 8, final do
        drop(ARGV[i])
        forget(ARGV[1], ARGV[i])
      end
      if ARGV[3] == 'save' then
        local id = number('id')
        redis.call('SET', p .. 'cb:' .. id, ARGV[7])
        redis.call('HINCRBY', p .. 'cm', 'total', ARGV[6])
        count(id, ARGV[6])
      elseif redis.call('EXISTS', c) == 1 then redis.call('HSET', c, 'n', number('n')) end
      local most = tonumber(ARGV[4])
      while tonumber(redis.call('HGET', p .. 'cm', 'total') or '0') > most do
        local first = redis.call('ZRANGE', p .. 'cu', 0, 0)
        if #first == 0 then break end
        drop(first[1])
      end
      return 1
      """)
}
