import FeedPolling
import FeedRedis

/// Scripts that don't run for each poll.
extension FleetScripts {
  /// Arguments: host, address and delay of each feed.
  static let add = script(
    "add",
    """
    local added = 0
    -- Nothing is written if another program has overwritten one of the keys.
    for i = 1, last, 3 do
      local h, a = p .. 'h:' .. ARGV[i], ARGV[i + 1]
      local f = p .. 'f:' .. a
      if not queue(ARGV[i]) then return redis.error_reply('WRONGTYPE ' .. h) end
      -- A feed that is already listed is skipped, so its key doesn't matter.
      if not redis.call('ZSCORE', h, a) and not read('HEXISTS', f, 'q') then
        return redis.error_reply('WRONGTYPE ' .. f)
      end
    end
    for i = 1, last, 3 do
      local h, a = ARGV[i], ARGV[i + 1]
      if not redis.call('ZSCORE', p .. 'h:' .. h, a) and redis.call('HEXISTS', p .. 'f:' .. a, 'q') == 0 then
        redis.call('ZADD', p .. 'h:' .. h, whole(now + ARGV[i + 2]), a)
        if redis.call('HEXISTS', p .. 'leases', h) == 0 then open(h, 0) end
        added = added + 1
      end
    end
    if added > 0 then
      redis.call('HINCRBY', p .. 'meta', 'feeds', added)
      list()
    end
    return added
    """)

  /// Arguments: host, address.
  static let remove = freeing(
    "remove",
    """
    local f = p .. 'f:' .. ARGV[2]
    -- A feed whose key another program has overwritten can be removed.
    local h = read('HGET', f, 'q') or ARGV[1]
    if not queue(h) then return redis.error_reply('WRONGTYPE ' .. p .. 'h:' .. h) end
    redis.call('DEL', f)
    redis.call('HDEL', p .. 'lapses', ARGV[2])
    if redis.call('ZREM', p .. 'h:' .. h, ARGV[2]) == 0 then return 0 end
    if redis.call('HEXISTS', p .. 'leases', h) == 0 then open(h, 0) end
    redis.call('HINCRBY', p .. 'meta', 'feeds', -1)
    list()
    return 1
    """)

  /// Arguments: host, milliseconds or nothing, reason.
  static let pause = freeing(
    "pause",
    """
    local till = '\(never)'
    if ARGV[2] ~= '' then till = whole(now + ARGV[2]) end
    \(forgetting)
    -- A longer pause stays: its server may have requested it.
    if paused(ARGV[1]) <= tonumber(till) then
      redis.call('ZADD', p .. 'pauses', till, ARGV[1])
      redis.call('HSET', p .. 'reasons', ARGV[1], ARGV[3])
    end
    if redis.call('HEXISTS', p .. 'leases', ARGV[1]) == 0 then open(ARGV[1], 0) end
    return redis.call('EXISTS', p .. 'h:' .. ARGV[1])
    """)

  /// Arguments: host.
  static let resume = freeing(
    "resume",
    """
    redis.call('HDEL', p .. 'reasons', ARGV[1])
    if redis.call('ZREM', p .. 'pauses', ARGV[1]) == 0 then return 0 end
    if redis.call('HEXISTS', p .. 'leases', ARGV[1]) == 0 then open(ARGV[1], now) end
    return 1
    """)

  /// Removes expired pauses, including those of hosts without feeds.
  private static let forgetting = """
    for _, over in ipairs(redis.call('ZRANGEBYSCORE', p .. 'pauses', '-inf', whole(now), 'LIMIT', 0, 100)) do
      redis.call('ZREM', p .. 'pauses', over)
      redis.call('HDEL', p .. 'reasons', over)
    end
    """

  /// Arguments: worker and its state.
  static let beat = script(
    "beat",
    """
    redis.call('ZADD', p .. 'workers', whole(now), ARGV[1])
    redis.call('HSET', p .. 'about', ARGV[1], ARGV[2])
    \(forgetting)
    for _, w in ipairs(redis.call('ZRANGEBYSCORE', p .. 'workers', '-inf', whole(now - 600000))) do
      redis.call('ZREM', p .. 'workers', w)
      redis.call('HDEL', p .. 'about', w)
    end
    return 1
    """)

  /// Arguments: worker.
  static let leave = freeing(
    "leave",
    """
    redis.call('HDEL', p .. 'about', ARGV[1])
    redis.call('ZREM', p .. 'sleepers', ARGV[1])
    return redis.call('ZREM', p .. 'workers', ARGV[1])
    """)

  /// Arguments: address, version, the trace or nothing, the log's retention time.
  static let append = script("append", "return log(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ending())")

  /// The end of the log. Before the first update, there is none.
  static let end = RedisScript("end", reading + beginning + guarding + ending + "return ending()")

  /// Returns the version of the list.
  static let edition = RedisScript(
    "edition",
    reading + beginning + guarding + """
      local about = redis.call('HMGET', p .. 'meta', 'born', 'list', 'feeds')
      return (about[1] or '') .. ' ' .. (about[2] or '') .. ' ' .. (about[3] or '')
      """)

  /// Returns 1 if everything after a position in the log is still there: its entry exists, or nothing was written after
  /// it. Arguments: position.
  static let holds = RedisScript(
    "holds",
    reading + beginning + guarding + ending + """
      if #redis.call('XRANGE', p .. 'updates', ARGV[1], ARGV[1]) > 0 or ending() == ARGV[1] then return 1 end
      return 0
      """)

  static let ending = """
    local function ending()
      if redis.call('EXISTS', p .. 'updates') == 0 then return '0-0' end
      local about = redis.call('XINFO', 'STREAM', p .. 'updates')
      for i = 1, #about, 2 do if about[i] == 'last-generated-id' then return about[i + 1] end end
    end

    """

  /// Writes a feed as a store does, if the feed has not changed since it was read. Arguments: address, the version that
  /// was read, the new one, record, images or nothing, the log's retention time, 1 if there is an update, the record that
  /// was read.
  static let replace = script(
    "replace",
    """
    local f = p .. 'f:' .. ARGV[1]
    if (redis.call('HGET', f, 'v') or '') ~= ARGV[2] then return 0 end
    -- A poll that saves no new version changes the record alone.
    if (redis.call('HGET', f, 'm') or '') ~= ARGV[8] then return 0 end
    local before = ARGV[7] == '1' and ending()
    redis.call('HSET', f, 'm', ARGV[4])
    if ARGV[3] ~= '' then redis.call('HSET', f, 'v', ARGV[3]) end
    if ARGV[5] ~= '' then redis.call('HSET', f, 'd', ARGV[5]) end
    if ARGV[7] == '1' then log(ARGV[1], ARGV[3], '', ARGV[6], before) end
    return 1
    """)

  // Commands without a key, in scripts with one: a cluster node that doesn't have the fleet's keys would execute such a
  // command, but names the right node instead of running the script.

  /// Returns a page of the saved feeds' keys, after the cursor of the next page. Arguments: cursor.
  static let scan = RedisScript(
    "scan",
    reading + beginning + guarding + "return redis.call('SCAN', ARGV[1], 'MATCH', p .. 'f:*', 'COUNT', 1000)")

  /// Returns the version and record of a saved feed, and its images if they aren't too large. Arguments: address, the
  /// maximum number of bytes of the images, 1 to read a key that another program has overwritten like a missing one.
  static let feed = RedisScript(
    "feed",
    reading + beginning + guarding + looking + """
      local f = p .. 'f:' .. ARGV[1]
      local feed = read('HMGET', f, 'v', 'm')
      if not feed then
        if ARGV[3] == '1' then return {false, false} end
        return redis.error_reply('WRONGTYPE ' .. f)
      end
      if redis.call('HSTRLEN', f, 'd') <= tonumber(ARGV[2]) then feed[3] = redis.call('HGET', f, 'd') end
      return feed
      """)

  /// Returns facts about the server.
  static let facts = RedisScript(
    "facts", reading + beginning + guarding + "return redis.call('INFO', 'memory', 'errorstats')")

  /// Deletes a saved feed, if it has not changed since it was read. Arguments: address, version.
  static let forget = freeing(
    "forget",
    """
    local f = p .. 'f:' .. ARGV[1]
    if (redis.call('HGET', f, 'v') or '') ~= ARGV[2] then return 0 end
    return redis.call('HDEL', f, 'v', 'm', 'd')
    """)
}
