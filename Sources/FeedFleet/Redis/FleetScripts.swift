import FeedPolling
import FeedRedis

/// The scripts of a fleet. Each runs atomically, uses the fleet's time, and refuses a database that isn't a fleet's.
///
/// Leases, gaps, pauses and due times are measured by the fleet's time. It follows the server's clock, but never goes
/// back, and doesn't jump while the fleet is in use: that clock may be set, the server may stop for a while, or another
/// server with a different clock may take over. In each case, the fleet's time advances by the elapsed time on its
/// users' monotonic clocks. After that, it follows the server's clock again, running a tenth faster or slower until
/// both agree.
///
/// All keys begin with the key that each script receives, whose tag keeps them in a single slot of a cluster:
/// - `meta`, a hash: `program`, `schema`, `feeds`, the number of feeds; `born`, the time of creation; `list`, the
///   number of changes to the list; `clock` and `raw`, the fleet's time and the server's at the last write by a script;
/// - `hosts`, a sorted set: the due time of each host; `h:<host>`, a sorted set: the due time of each of its feeds;
/// - `leases`, a hash: `nonce until worker address` of each host that is being requested; `done:<nonce>`, for five
///   minutes;
/// - `pauses`, a sorted set: the end of each host's pause; `reasons`, a hash; `g:<host>`, while a host rests after a
///   request;
/// - `paces`, a hash: the learned milliseconds between requests to a host, and how they were learned;
/// - `f:<address>`, a hash: `v` its version, `m` its record, `d` its images, `q` its host if that isn't the URL's;
/// - `updates`, a stream: `a` an address, `v` its version, `t` the poll's trace, `b` the entry before;
/// - `workers`, a sorted set, and `about`, a hash; `sleepers`, a sorted set: when idle workers check again;
/// - `s:<minute>`, a hash of counts, and `totals`, a hash of their sums; `lapses`, a hash: for each feed, the number of
///   workers in a row that died while they were polling it.
enum FleetScripts {
  static let schema = 1
  /// The pause, in milliseconds, of a host whose keys another program has overwritten.
  static let heldOff = 60_000
  /// The value for "never": this number is later than any time, and a score can represent it exactly.
  static let never = 9_000_000_000_000_000

  /// The number of updates to keep while their ids don't show their age.
  static let mostUpdates = 100_000

  // With this first line, a script runs as a whole, or is refused: on a replica, or when memory is full (Redis 7).
  static let writing = "#!lua\n"
  static let reading = "#!lua flags=no-writes\n"

  // Scripts that free memory, or that a user is waiting for, run even when memory is full.
  static let relieving = "#!lua flags=allow-oom\n"

  static let beginning = """
    local p = KEYS[1]
    local t = redis.call('TIME')
    -- The server's clock, which somebody may set.
    local raw = t[1] * 1000 + math.floor(t[2] / 1000)
    local function whole(n) return string.format('%.0f', n) end

    """

  /// Refuses a database that isn't a fleet's, and computes the time, `now`. The last two arguments of each script are
  /// the last fleet time that its caller received, and the milliseconds since then by the caller's own clock, or
  /// nothing.
  static let guarding = """
    local about = redis.call('HMGET', p .. 'meta', 'schema', 'clock', 'raw')
    if about[1] ~= '\(schema)' then return redis.error_reply('NOFLEET') end
    local last = #ARGV - 2
    local clock, passed = tonumber(about[2] or raw), raw - tonumber(about[3] or raw)
    local told, since = tonumber(ARGV[last + 1]), tonumber(ARGV[last + 2])
    local likely = told and math.max(0, told + since - clock)
    if passed < 0 then passed = likely or 0
    elseif likely and passed > likely + \(FleetRules.tolerance) then passed = likely
    elseif not likely and passed > \(FleetRules.tolerance) and raw > clock + passed and redis.call('HLEN', p .. 'leases') == 0 then
      passed = raw - clock
    end
    clock = clock + passed
    local most = passed / \(FleetRules.pace)
    clock = clock + math.max(-most, math.min(raw - clock, most))
    local now = math.floor(clock)

    """

  /// Functions for scripts that write. Such a script first records the time.
  private static let tools = """
    redis.call('HSET', p .. 'meta', 'clock', string.format('%.3f', clock), 'raw', whole(raw))
    local function list() redis.call('HINCRBY', p .. 'meta', 'list', 1) end
    -- Logs an update, and drops those that are older than `keep` milliseconds. A reader that has not read `before`, the
    -- end of the log, has missed something. Read it before you write anything, because it may be refused.
    local function log(a, v, trace, keep, before)
      local key = p .. 'updates'
      local oldest = whole(math.min(raw, now) - keep)
      local id = redis.call(
        'XADD', key, 'MINID', '~', oldest, '*', 'a', a, 'v', v, 'b', before, unpack(trace ~= '' and {'t', trace} or {}))
      -- Ids never go back, so that after the server's clock was ahead, they don't show which entries are old.
      if tonumber(string.match(id, '^%d+')) > raw + keep then
        redis.call('XTRIM', key, 'MAXLEN', '~', \(mostUpdates))
      end
      return id
    end
    local function count(name, n)
      local key = p .. 's:' .. whole(math.floor(now / 60000))
      redis.call('HINCRBY', key, name, n)
      redis.call('EXPIRE', key, 7200)
      redis.call('HINCRBY', p .. 'totals', name, n)
    end
    -- A request to a host has ended: it is left alone for `gap` milliseconds, whatever else is done with it.
    local function rest(h, gap)
      local till = now + math.floor(gap)
      if till <= math.max(tonumber(redis.call('GET', p .. 'g:' .. h) or now), now) then return end
      redis.call('SET', p .. 'g:' .. h, whole(till), 'PX', whole(till - now))
    end
    -- Keeps a host closed until `till`, if that isn't empty, unless it is closed for longer.
    local function pause(h, till, reason)
      if till == '' or paused(h) >= tonumber(till) then return end
      redis.call('ZADD', p .. 'pauses', till, h)
      redis.call('HSET', p .. 'reasons', h, reason)
    end
    local function rested(h) return tonumber(redis.call('GET', p .. 'g:' .. h) or 0) end
    -- Sets when a host's time comes: when a feed is due, it is not left alone, has rested, and not before `earliest`.
    local function open(h, earliest)
      local first = queue(h)
      if not first then redis.call('ZADD', p .. 'hosts', whole(now + \(heldOff)), h) return end
      if #first == 0 then
        redis.call('ZREM', p .. 'hosts', h)
        redis.call('HDEL', p .. 'paces', h)
        return
      end
      local at = math.max(tonumber(first[2]), earliest, rested(h))
      redis.call('ZADD', p .. 'hosts', whole(math.max(at, paused(h))), h)
    end

    """

  /// Functions for scripts that examine hosts.
  static let looking = """
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

    """

  static func script(_ name: String, _ text: String) -> RedisScript {
    RedisScript(name, writing + beginning + guarding + looking + ending + tools + text)
  }

  static func freeing(_ name: String, _ text: String) -> RedisScript {
    RedisScript(name, relieving + beginning + guarding + looking + ending + tools + text)
  }

  /// Determines the kind of content in the database.
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

  /// Begins a fleet in an empty database.
  static let begin = RedisScript(
    "begin",
    writing + beginning + """
      if redis.call('DBSIZE') > 0 then return 0 end
      redis.call('HSET', p .. 'meta', 'clock', whole(raw), 'raw', whole(raw), 'born', t[1] .. '.' .. t[2])
      return redis.call('HSET', p .. 'meta', 'program', 'feedstream', 'schema', '\(schema)', 'feeds', 0)
      """)
}
