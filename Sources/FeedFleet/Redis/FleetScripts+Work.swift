import FeedPolling
import FeedRedis

/// The scripts of a poll.
extension FleetScripts {
  /// Arguments: the number of hosts, milliseconds of the lease, nonce, worker, the maximum sleep of an idle worker.
  static let claim = script(
    "claim",
    abandoning + sleeping + """
      local found = redis.call('ZRANGEBYSCORE', p .. 'hosts', '-inf', whole(now), 'LIMIT', 0, ARGV[1])
      local out, damaged = {}, {}
      -- What another program has done to one host's keys is that host's trouble alone.
      local function holdOff(h, key)
        damaged[#damaged + 1] = key
        redis.call('ZADD', p .. 'hosts', whole(now + \(heldOff)), h)
      end
      local late, total = {}, 0
      for i, h in ipairs(found) do
        local lease = redis.call('HGET', p .. 'leases', h)
        local pace = redis.call('HGET', p .. 'paces', h) or ''
        if lease then lapse(h, lease, pace, ARGV[2]) end
        local first = queue(h)
        local feed = first and first[1] and read('HMGET', p .. 'f:' .. first[1], 'v', 'm')
        if not first then holdOff(h, p .. 'h:' .. h)
        elseif #first == 0 or tonumber(first[2]) > now or paused(h) > now or lease and rested(h) > now then open(h, 0)
        elseif not feed then holdOff(h, p .. 'f:' .. first[1])
        else
          local nonce = ARGV[3] .. '.' .. i
          local till = whole(now + ARGV[2])
          redis.call('HSET', p .. 'leases', h, nonce .. ' ' .. till .. ' ' .. ARGV[4] .. ' ' .. first[1])
          redis.call('ZADD', p .. 'hosts', till, h)
          out[#out + 1] = {h, nonce, first[1], first[2], feed[1] or '', feed[2] or '', pace}
          local wait = now - first[2]
          total = total + wait
          for _, limit in ipairs({\(lateness)}) do
            if wait <= limit * 1000 then
              late[limit] = (late[limit] or 0) + 1
              break
            end
          end
        end
      end
      if #out > 0 then
        redis.call('HINCRBY', p .. 'totals', 'claimed', #out)
        redis.call('HINCRBY', p .. 'totals', 'late', whole(total))
        for limit, n in pairs(late) do redis.call('HINCRBY', p .. 'totals', 'late:' .. limit, n) end
      end
      local next = redis.call('ZRANGE', p .. 'hosts', 0, 0, 'WITHSCORES')
      return {whole(now), next[2] or '', out, damaged, #out < tonumber(ARGV[1]) and whole(sleep(next[2], ARGV[4], ARGV[5]) - now) or ''}
      """)

  /// Handles a lease that expired without any sign of its worker. The request may have killed the worker, and may kill
  /// the next one. Therefore, from the third consecutive time on, such a feed waits, longer each time.
  private static let abandoning = """
    local function abandon(h, a)
      local times = redis.call('HINCRBY', p .. 'lapses', a, 1)
      if times < \(FleetRules.suspicious) then return end
      count('abandoned', 1)
      local wait = math.min(86400000, 3600000 * 2 ^ math.min(times - \(FleetRules.suspicious), 5))
      redis.call('ZADD', p .. 'h:' .. h, whole(now + wait), a)
    end
    -- Ends a lost worker's lease. The worker may have sent its request: what is left of the host's own pause holds.
    -- `length` is the milliseconds of a lease for one of the host's feeds. A visit may be as short as its request.
    local function lapse(h, lease, pace, length)
      local a = string.match(lease, '^%S+ %S+ %S+ (.*)$') or ''
      local isVisit = not read('ZSCORE', p .. 'h:' .. h, a)
      redis.call('HDEL', p .. 'leases', h)
      count('lapsed', 1)
      if not isVisit then abandon(h, a) end
      rest(h, tonumber(string.match(pace, '^%d+') or 0) - (isVisit and 0 or length))
    end

    """

  /// Decides when an idle worker checks again. One worker checks when the next host is due. The rest take turns, so
  /// that one of them checks once per `longest`, no matter how many there are.
  private static let sleeping = """
    local function sleep(next, worker, longest)
      local sleepers = p .. 'sleepers'
      redis.call('ZREMRANGEBYSCORE', sleepers, '-inf', whole(now - 2000))
      redis.call('ZREM', sleepers, worker)
      local latest = redis.call('ZRANGE', sleepers, -1, -1, 'WITHSCORES')[2]
      local at = math.max(tonumber(latest or now), now) + longest
      at = math.min(at, now + longest * (redis.call('ZCARD', sleepers) + 1))
      if next and tonumber(next) < at then
        local first = redis.call('ZRANGEBYSCORE', sleepers, whole(now + 1), whole(next + \(FleetRules.slack)), 'LIMIT', 0, 1)
        if #first == 0 then at = math.max(tonumber(next), now + 5) end
      end
      redis.call('ZADD', sleepers, whole(at), worker)
      return at
    end

    """

  private static let lateness = FleetRules.lateness.map { "\($0)" }.joined(separator: ", ")

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

  /// Leases another host, to which a lease's request was redirected. Arguments: host, nonce, milliseconds, worker,
  /// address, milliseconds of the lease.
  static let visit = script(
    "visit",
    abandoning + """
      local h, nonce = ARGV[1], ARGV[2]
      if paused(h) > now then return {'paused', whole(paused(h)), redis.call('HGET', p .. 'reasons', h) or ''} end
      local lease = redis.call('HGET', p .. 'leases', h)
      local busy = 0
      if lease and string.sub(lease, 1, #nonce + 1) ~= nonce .. ' ' then
        busy = tonumber(string.match(lease, '^%S+ (%S+)'))
        if busy <= now then
          lapse(h, lease, redis.call('HGET', p .. 'paces', h) or '', ARGV[6])
          open(h, 0)
        end
      end
      busy = math.max(busy, rested(h))
      if busy > now then return {'busy', whole(busy - now)} end
      local till = whole(now + ARGV[3])
      redis.call('HSET', p .. 'leases', h, nonce .. ' ' .. till .. ' ' .. ARGV[4] .. ' ' .. ARGV[5])
      -- Where it is polled, too; a host that is not is forgotten with its lease.
      redis.call('ZADD', p .. 'hosts', till, h)
      return {'granted'}
      """)

  /// Arguments: host, nonce, gap, end of the pause or nothing, its reason.
  static let endVisit = freeing(
    "endVisit",
    """
    local lease = redis.call('HGET', p .. 'leases', ARGV[1])
    if not lease or string.sub(lease, 1, #ARGV[2] + 1) ~= ARGV[2] .. ' ' then return 0 end
    redis.call('HDEL', p .. 'leases', ARGV[1])
    pause(ARGV[1], ARGV[4], ARGV[5])
    local pace = tonumber(string.match(redis.call('HGET', p .. 'paces', ARGV[1]) or '', '^%d+') or 0)
    rest(ARGV[1], math.max(ARGV[3], pace))
    open(ARGV[1], 0)
    return 1
    """)

  /// Arguments: host, nonce, address, due, gap, end of the pause, its reason, record, the version seen, the new one,
  /// images, outcome, the log's retention time, the host from now on, the pace of the lease's host or nothing, the trace
  /// or nothing.
  static let complete = script(
    "complete",
    """
    local h, nonce, a = ARGV[1], ARGV[2], ARGV[3]
    local before = redis.call('GET', p .. 'done:' .. nonce)
    if before then return {'accepted', before} end
    local lease = redis.call('HGET', p .. 'leases', h)
    if not lease or string.sub(lease, 1, #nonce + 1) ~= nonce .. ' ' then
      count('lost', 1)
      redis.call('HDEL', p .. 'lapses', a)
      return {'lost', ''}
    end
    local isNew = ARGV[10] ~= '' and ARGV[11] ~= ''
    local tail = isNew and ending()
    -- These keys are read before anything is written, because another program may have overwritten them.
    local f = p .. 'f:' .. a
    local there = redis.call('HGET', f, 'v') or ''
    local isListed = redis.call('ZSCORE', p .. 'h:' .. h, a)
    if not queue(ARGV[14]) then return redis.error_reply('WRONGTYPE ' .. p .. 'h:' .. ARGV[14]) end
    redis.call('HDEL', p .. 'leases', h)
    redis.call('HDEL', p .. 'lapses', a)
    -- Even if the feed was removed, its host's pause and pace hold for the host's other feeds.
    pause(h, ARGV[6], ARGV[7])
    if ARGV[15] ~= '' then redis.call('HSET', p .. 'paces', h, ARGV[15]) else redis.call('HDEL', p .. 'paces', h) end
    rest(h, ARGV[5])
    if not isListed then
      open(h, 0)
      return {'lost', ''}
    end
    local seen, new = ARGV[9], ARGV[10]
    local id, verdict = '', 'accepted'
    if isNew then
      -- One that is from the future was saved while a clock was wrong.
      if there == '' or tonumber(new) > tonumber(there) or tonumber(there) > (now + \(FleetRules.future)) * 1000 then
        redis.call('HSET', f, 'v', new, 'm', ARGV[8], 'd', ARGV[11])
        id = log(a, new, ARGV[16], ARGV[13], tail)
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
