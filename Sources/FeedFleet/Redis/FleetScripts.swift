import FeedRedis

/// The scripts of a fleet. Each is one step of the server, takes its time from the server's clock, and refuses to touch a
/// database that is not a fleet's.
///
/// All keys begin with the one that is given, whose tag keeps them in one slot of a cluster:
/// - `meta`, a hash: `program`, `schema`, `feeds`, how many; `born`, when it was begun; `list`, which counts changes of the list;
/// - `hosts`, a sorted set: when each host's time comes; `h:<host>`, one: when each of its feeds is due;
/// - `leases`, a hash: `nonce until worker address` of each host that is asked; `done:<nonce>`, for five minutes;
/// - `pauses`, a sorted set: until when hosts are left alone; `reasons`, a hash; `g:<host>`, while a host rests after a request;
/// - `f:<address>`, a hash: `v` its version, `m` its record, `d` its images, `q` its host if that is not the address';
/// - `updates`, a stream; `workers`, a sorted set, and `about`, a hash; `s:<minute>`, a hash of counts.
enum FleetScripts {
  static let schema = 1
  /// The pause of a host whose keys another program has written, in milliseconds.
  static let heldOff = 60_000
  /// Stands for never: beyond every time, and exact as a score.
  static let never = 9_000_000_000_000_000

  // With its first line, a script runs whole or not at all: not on a replica, and not without memory (Redis 7).
  static let writing = "#!lua\n"
  static let reading = "#!lua flags=no-writes\n"

  // What frees memory, or what a person wants at once, runs without memory, too.
  static let relieving = "#!lua flags=allow-oom\n"

  static let beginning = """
    local p = KEYS[1]
    local t = redis.call('TIME')
    local now = t[1] * 1000 + math.floor(t[2] / 1000)
    local function list() redis.call('HINCRBY', p .. 'meta', 'list', 1) end
    local function whole(n) return string.format('%.0f', n) end
    local function count(name, n)
      local key = p .. 's:' .. whole(math.floor(now / 60000))
      redis.call('HINCRBY', key, name, n)
      redis.call('EXPIRE', key, 7200)
    end
    -- The reply to a command on a key of one host alone, or false if something else has written that key.
    local function read(...)
      local reply = redis.pcall(...)
      if type(reply) ~= 'table' or not reply.err then return reply end
      if string.find(reply.err, 'WRONGTYPE', 1, true) then return false end
      return redis.call(...)
    end
    -- The feed of a host that is due first, and when; false as above.
    local function queue(h) return read('ZRANGE', p .. 'h:' .. h, 0, 0, 'WITHSCORES') end
    -- Until when a host is left alone because somebody wants it so; 0 if nobody does.
    local function paused(h) return tonumber(redis.call('ZSCORE', p .. 'pauses', h) or 0) end
    -- A request to a host has ended: it is left alone for `gap` milliseconds, whatever else is done with it.
    local function rest(h, gap)
      local till = now + math.floor(gap)
      if till <= tonumber(redis.call('GET', p .. 'g:' .. h) or now) then return end
      redis.call('SET', p .. 'g:' .. h, whole(till), 'PX', whole(till - now))
    end
    -- Sets when a host's time comes: when a feed is due, it is not left alone, has rested, and not before `earliest`.
    local function open(h, earliest)
      local first = queue(h)
      if not first then redis.call('ZADD', p .. 'hosts', whole(now + \(heldOff)), h) return end
      if #first == 0 then redis.call('ZREM', p .. 'hosts', h) return end
      local at = math.max(tonumber(first[2]), earliest, tonumber(redis.call('GET', p .. 'g:' .. h) or 0))
      redis.call('ZADD', p .. 'hosts', whole(math.max(at, paused(h))), h)
    end

    """

  static let guarding = """
    if redis.call('HGET', p .. 'meta', 'schema') ~= '\(schema)' then return redis.error_reply('NOFLEET') end

    """

  static func script(_ name: String, _ text: String) -> RedisScript {
    RedisScript(name, writing + beginning + guarding + text)
  }

  static func freeing(_ name: String, _ text: String) -> RedisScript {
    RedisScript(name, relieving + beginning + guarding + text)
  }

  /// Looks what the database is.
  static let look = RedisScript(
    "look",
    reading + beginning + """
      local kind = redis.call('TYPE', p .. 'meta')['ok']
      if kind == 'none' then
        local keys = redis.call('DBSIZE')
        return {keys > 0 and 'foreign' or 'empty', keys}
      end
      if kind ~= 'hash' or redis.call('HGET', p .. 'meta', 'program') ~= 'feedstream' then
        return {'foreign', redis.call('DBSIZE')}
      end
      return {'open', tonumber(redis.call('HGET', p .. 'meta', 'schema') or '0')}
      """)

  /// Makes an empty database a fleet's.
  static let begin = RedisScript(
    "begin",
    writing + beginning + """
      if redis.call('DBSIZE') > 0 then return 0 end
      return redis.call('HSET', p .. 'meta', 'program', 'feedstream', 'schema', '\(schema)', 'feeds', 0, 'born', t[1] .. '.' .. t[2])
      """)

  /// Arguments: how many, milliseconds of the lease, nonce, worker.
  static let claim = script(
    "claim",
    """
    local found = redis.call('ZRANGEBYSCORE', p .. 'hosts', '-inf', whole(now), 'LIMIT', 0, ARGV[1])
    local out, damaged = {}, {}
    local lapsed = 0
    -- What another program has done to one host's keys is that host's trouble alone.
    local function holdOff(h, key)
      damaged[#damaged + 1] = key
      redis.call('ZADD', p .. 'hosts', whole(now + \(heldOff)), h)
    end
    for i, h in ipairs(found) do
      if redis.call('HDEL', p .. 'leases', h) == 1 then lapsed = lapsed + 1 end
      local first = queue(h)
      local feed = first and first[1] and read('HMGET', p .. 'f:' .. first[1], 'v', 'm')
      if not first then holdOff(h, p .. 'h:' .. h)
      elseif #first == 0 or tonumber(first[2]) > now or paused(h) > now then open(h, 0)
      elseif not feed then holdOff(h, p .. 'f:' .. first[1])
      else
        local nonce = ARGV[3] .. '.' .. i
        local till = whole(now + ARGV[2])
        redis.call('HSET', p .. 'leases', h, nonce .. ' ' .. till .. ' ' .. ARGV[4] .. ' ' .. first[1])
        redis.call('ZADD', p .. 'hosts', till, h)
        out[#out + 1] = {h, nonce, first[1], first[2], feed[1] or '', feed[2] or ''}
      end
    end
    if lapsed > 0 then count('lapsed', lapsed) end
    local next = redis.call('ZRANGE', p .. 'hosts', 0, 0, 'WITHSCORES')
    return {whole(now), next[2] or '', out, damaged}
    """)

  /// Arguments: host, nonce, milliseconds.
  static let extend = script(
    "extend",
    """
    local lease = redis.call('HGET', p .. 'leases', ARGV[1])
    if not lease or string.sub(lease, 1, #ARGV[2] + 1) ~= ARGV[2] .. ' ' then return 0 end
    local till = whole(now + ARGV[3])
    local rest = string.match(lease, '^%S+ %S+ (.*)$')
    redis.call('HSET', p .. 'leases', ARGV[1], ARGV[2] .. ' ' .. till .. ' ' .. rest)
    redis.call('ZADD', p .. 'hosts', till, ARGV[1])
    return 1
    """)

  /// Takes another host for a request that a lease leads to. Arguments: host, nonce, milliseconds, worker, address.
  static let visit = script(
    "visit",
    """
    local h, nonce = ARGV[1], ARGV[2]
    if paused(h) > now then return {'paused', whole(paused(h)), redis.call('HGET', p .. 'reasons', h) or ''} end
    local lease = redis.call('HGET', p .. 'leases', h)
    local busy = tonumber(redis.call('GET', p .. 'g:' .. h) or 0)
    if lease and string.sub(lease, 1, #nonce + 1) ~= nonce .. ' ' then
      busy = math.max(busy, tonumber(string.match(lease, '^%S+ (%S+)')))
    end
    if busy > now then return {'busy', whole(busy - now)} end
    local till = whole(now + ARGV[3])
    redis.call('HSET', p .. 'leases', h, nonce .. ' ' .. till .. ' ' .. ARGV[4] .. ' ' .. ARGV[5])
    -- Where it is polled, too; a host that is not is forgotten with its lease.
    redis.call('ZADD', p .. 'hosts', till, h)
    return {'granted'}
    """)

  /// Arguments: host, nonce, gap.
  static let endVisit = freeing(
    "endVisit",
    """
    local lease = redis.call('HGET', p .. 'leases', ARGV[1])
    if not lease or string.sub(lease, 1, #ARGV[2] + 1) ~= ARGV[2] .. ' ' then return 0 end
    redis.call('HDEL', p .. 'leases', ARGV[1])
    rest(ARGV[1], ARGV[3])
    open(ARGV[1], 0)
    return 1
    """)

  /// Arguments: host, nonce, address, due, gap, end of the pause, its reason, record, the version seen, the new one, images,
  /// outcome, how long the log keeps, the host from now on.
  static let complete = script(
    "complete",
    """
    local h, nonce, a = ARGV[1], ARGV[2], ARGV[3]
    local before = redis.call('GET', p .. 'done:' .. nonce)
    if before then return {'accepted', before} end
    local lease = redis.call('HGET', p .. 'leases', h)
    if not lease or string.sub(lease, 1, #nonce + 1) ~= nonce .. ' ' then
      count('lost', 1)
      return {'lost', ''}
    end
    redis.call('HDEL', p .. 'leases', h)
    if not redis.call('ZSCORE', p .. 'h:' .. h, a) then
      rest(h, ARGV[5])
      open(h, 0)
      return {'lost', ''}
    end
    local f = p .. 'f:' .. a
    local seen, new = ARGV[9], ARGV[10]
    local there = redis.call('HGET', f, 'v') or ''
    local id, verdict = '', 'accepted'
    if new ~= '' and ARGV[11] ~= '' then
      if there == '' or tonumber(new) > tonumber(there) then
        redis.call('HSET', f, 'v', new, 'm', ARGV[8], 'd', ARGV[11])
        id = redis.call('XADD', p .. 'updates', 'MINID', '~', whole(now - ARGV[13]), '*', 'a', a, 'v', new)
      else verdict = 'superseded' end
    elseif there ~= seen then verdict = 'superseded'
    elseif new ~= '' then redis.call('HSET', f, 'v', new, 'm', ARGV[8])
    else redis.call('HSET', f, 'm', ARGV[8]) end
    if ARGV[14] ~= h then
      redis.call('ZREM', p .. 'h:' .. h, a)
      redis.call('HSET', f, 'q', ARGV[14])
      list()
    end
    redis.call('ZADD', p .. 'h:' .. ARGV[14], ARGV[4], a)
    if ARGV[6] ~= '' then
      local pause = redis.call('ZSCORE', p .. 'pauses', h)
      if not pause or tonumber(pause) < tonumber(ARGV[6]) then
        redis.call('ZADD', p .. 'pauses', ARGV[6], h)
        redis.call('HSET', p .. 'reasons', h, ARGV[7])
      end
    end
    rest(h, ARGV[5])
    open(h, 0)
    if ARGV[14] ~= h then
      rest(ARGV[14], ARGV[5])
      if redis.call('HEXISTS', p .. 'leases', ARGV[14]) == 0 then open(ARGV[14], 0) end
    end
    redis.call('SET', p .. 'done:' .. nonce, id, 'EX', 300)
    count(verdict == 'accepted' and ARGV[12] or verdict, 1)
    return {verdict, id}
    """)
}
