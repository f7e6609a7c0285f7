import FeedPolling
import FeedRedis

extension FleetScripts {
  /// Arguments: the number of hosts of each kind to examine.
  static let status = RedisScript(
    "status",
    reading + beginning + guarding + looking + ending + """
      local most = tonumber(ARGV[1])
      local waiting, queued, oldest, isCut = 0, 0, '', 0
      local queues, seen = {}, {}
      -- Feeds of a host that are due and not requested: nor may they be while it is busy.
      local function look(h, isBusy, asked)
        if seen[h] then return end
        seen[h] = true
        local firsts = read('ZRANGE', p .. 'h:' .. h, 0, 1, 'WITHSCORES') or {}
        local due = firsts[2]
        if not due or tonumber(due) > now then return end
        local n = redis.call('ZCOUNT', p .. 'h:' .. h, '-inf', whole(now))
        if asked then
          local score = redis.call('ZSCORE', p .. 'h:' .. h, asked)
          if score and tonumber(score) <= now then n = n - 1 end
          if firsts[1] == asked then due = firsts[4] end
        end
        if n < 1 or not due then return end
        waiting = waiting + n
        if isBusy then queued = queued + n end
        if oldest == '' or tonumber(due) < tonumber(oldest) then oldest = due end
        if n > 1 then queues[#queues + 1] = {h, n, due} end
      end
      local function range(from, to) return redis.call('ZRANGEBYSCORE', p .. 'hosts', from, to, 'LIMIT', 0, most) end
      local leases = redis.call('HGETALL', p .. 'leases')
      for i = 1, #leases, 2 do
        if i > 2 * most then isCut = 1 break end
        look(leases[i], true, string.match(leases[i + 1], '^%S+ %S+ %S+ (.*)$'))
      end
      local free = range('-inf', whole(now))
      if #free == most then isCut = 1 end
      for _, h in ipairs(free) do look(h, false) end
      -- Those that rest after a request.
      for _, h in ipairs(range('(' .. whole(now), whole(now + 10000))) do
        if paused(h) <= now then look(h, true) end
      end
      table.sort(queues, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
      local longest = {}
      for i = 1, math.min(#queues, 10) do longest[i] = queues[i] end
      local pauses = {}
      for i, h in ipairs(redis.call('ZRANGEBYSCORE', p .. 'pauses', '(' .. whole(now), '+inf', 'LIMIT', 0, most)) do
        pauses[i] = {h, redis.call('ZSCORE', p .. 'pauses', h), redis.call('HGET', p .. 'reasons', h) or ''}
      end
      local abandoned = {}
      local lapses = redis.call('HGETALL', p .. 'lapses')
      for i = 1, #lapses, 2 do
        if tonumber(lapses[i + 1]) >= \(FleetRules.suspicious) and #abandoned < 20 then
          abandoned[#abandoned + 1] = lapses[i]
          abandoned[#abandoned + 1] = lapses[i + 1]
        end
      end
      local minute = math.floor(now / 60000)
      local next = redis.call('ZRANGEBYSCORE', p .. 'hosts', '(' .. whole(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
      return {
        whole(now), whole(raw - clock), redis.call('HGET', p .. 'meta', 'feeds'), redis.call('ZCARD', p .. 'hosts'),
        redis.call('ZCOUNT', p .. 'hosts', '-inf', whole(now)), waiting, queued, oldest, isCut, longest, leases,
        redis.call('ZCOUNT', p .. 'pauses', '(' .. whole(now), '+inf'), pauses, abandoned,
        redis.call('ZRANGE', p .. 'workers', 0, -1, 'WITHSCORES'), redis.call('HGETALL', p .. 'about'),
        redis.call('HGETALL', p .. 's:' .. whole(minute - 1)), redis.call('HGETALL', p .. 's:' .. whole(minute)),
        redis.call('HGETALL', p .. 'totals'), redis.call('XLEN', p .. 'updates'), ending(), next[2] or ''
      }
      """)
}
