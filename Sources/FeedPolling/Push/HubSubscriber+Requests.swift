import FeedHTTP
import FeedStream
import Foundation
import ImageFeed

/// The requests to hubs: one at a time. A host of hubs that doesn't work gets one request for all of its feeds, as does
/// a hub's URL that leads to another host that doesn't work. A hub that refuses a feed works.
extension HubSubscriber {
  /// Adjusts the times if the clock was set back: what was due in an hour stays due in an hour.
  func noticeClock() {
    let jump = clock.jump()
    guard jump < -1 else { return }
    for host in failed.keys { failed[host]?.opens += jump }
    closed = [:]
    agenda.removeAll()
    for (address, var entry) in entries {
      entry.next += jump
      entry.lease.until? += jump
      set(entry, of: address)
    }
  }

  /// Sends the due request, or waits for the next one, and reports leases that have ended.
  func goOn() {
    guard !isBusy else { return }
    noticeClock()
    var lost: [URL] = []
    let present = now()
    while !isBusy, let wake = agenda.first, wake.time <= present {
      agenda.removeFirst()
      guard let address = addresses[wake.path], var entry = entries[address], entry.wakes <= present else { continue }
      if let until = entry.lease.until, until <= present {
        entry.lease.until = nil
        lost.append(address)
      }
      let isDue = entry.next <= present && proceed(&entry, present)
      set(entry, of: address)
      if isDue { begin(wake.path, entry) }
    }
    if !isBusy, let wake = agenda.first {
      clock.wake(at: wake.time.timeIntervalSince1970) { [weak self] in self?.goOn() }
    }
    for address in lost { losses.send(address) }
  }

  /// Decides about a due request, and sets the time of the next one.
  ///
  /// - Returns: true if the request must be sent now.
  private func proceed(_ entry: inout Entry, _ present: Date) -> Bool {
    if entry.isAsked {
      fail(&entry, "its hub hasn't verified the subscription", of: entry.lease.link.hub.pollingHost)
      return false
    }
    let host = entry.lease.link.hub.pollingHost
    if let opens = closed[host] {
      guard opens <= present else {
        entry.next = opens
        return false
      }
      closed[host] = nil
    }
    for key in entry.lease.link.failureKeys {
      guard let state = failed[key], state.opens > present else { continue }
      entry.next = state.opens
      if entry.lease.trouble.isEmpty { entry.lease.trouble = state.trouble }
      return false
    }
    entry.next = present + options.patience.seconds
    return true
  }

  /// Records a failure of a feed's subscription, and of its hub.
  ///
  /// - Parameters:
  ///   - least: the shortest pause, if the hub has requested one.
  ///   - key: the part of ``failed`` that doesn't work; `nil` if the hub works, but refuses this feed.
  func fail(_ entry: inout Entry, _ reason: String, pausing least: Duration = .zero, of key: String?) {
    let policy = RetryPolicy.exponential(from: options.pauses.lowerBound, cap: options.pauses.upperBound, jitter: 0)
    func pause(_ failures: Int) -> Double {
      var unused = SystemRandomNumberGenerator()
      return policy.pause(before: failures, using: &unused).seconds
    }
    (entry.isAsked, entry.lease.trouble) = (false, reason)
    entry.next = now() + pause(entry.failures)
    entry.failures += 1
    guard let key else {
      entry.next = max(entry.next, now() + min(least, Schedule.longest).seconds)
      return
    }
    var state = failed[key] ?? FailedHost()
    // Requests that were sent before the hub failed don't count again.
    guard state.isTried || state.opens <= now() else { return }
    state.opens = now() + max(pause(state.failures), min(least, Schedule.longest).seconds)
    (state.isTried, state.trouble) = (false, reason)
    state.failures += 1
    failed[key] = state
    // Another feed tries the hub next, because the hub may refuse only this one.
    entry.next = max(entry.next, state.opens + 1)
  }

  /// Handles a sign that a hub works.
  func worked(_ link: HubLink) {
    for key in link.failureKeys { worked(key) }
  }

  /// Handles a sign that a host of hubs, or a hub's URL, works: requests that have waited for it are due now.
  private func worked(_ key: String) {
    guard let state = failed.removeValue(forKey: key) else { return }
    for (address, var entry) in entries where entry.next == state.opens && !entry.isAsked {
      entry.next = now()
      set(entry, of: address)
    }
  }

  /// Claims the hub's host, which may have feeds or pages that are requested, too.
  private func begin(_ path: String, _ entry: Entry) {
    isBusy = true
    let hub = entry.lease.link.hub
    let lease = Duration.seconds(HTTPRequest(hub).timeout.seconds + 5)
    claim = visits.claim(hub.pollingHost, lease: lease, gap: options.gap) { [weak self] in self?.claimed(path, $0) }
  }

  private func claimed(_ path: String, _ result: Result<HostHealth?, FeedStoreError>) {
    switch result {
    case .success(nil): return send(path)
    case .failure(let error):
      // Without a store, only this process's own requests are a second apart.
      visits.report(error)
      return send(path)
    case .success(let host?):
      let opens = host.reopens(at: now())
      closed[host.name] = opens
      if let address = addresses[path], var entry = entries[address] {
        entry.next = opens
        set(entry, of: address)
      }
      ended()
    }
  }

  private func send(_ path: String) {
    guard let address = addresses[path], var entry = entries[address] else { return ended() }
    // The hub may verify before it responds.
    (entry.isAsked, entry.next) = (true, now() + options.patience.seconds)
    set(entry, of: address)
    for key in entry.lease.link.failureKeys {
      failed[key]?.isTried = true
      failed[key]?.opens = entry.next
    }
    var wish = HTTPRequest(entry.lease.link.hub)
    wish.method = .post
    wish.body = .form([
      "hub.mode": "subscribe", "hub.topic": entry.lease.link.topic.absoluteString,
      "hub.callback": callback.appendingPathComponent(path).absoluteString,
      "hub.lease_seconds": "\(Int(options.lease.seconds))", "hub.secret": entry.lease.secret,
    ])
    // A feed must not lead into a private network, unless it came from one.
    (wish.origin, wish.originIsPrivate) = (address, entry.lease.link.isFromPrivateNetwork ?? false)
    let client = guardedClient(timeout: .seconds(wish.timeout.seconds))
    request = client.get(wish)
      .map { Result<HTTPResponse, HTTPError>.success($0) }
      .catch { Just(.failure($0)) }
      .handleEvents(receiveOutput: { [weak self] in self?.responded(path, $0, lastHost: client.lastHost) })
      .delay(for: options.gap, scheduler: scheduler)
      .sink { [weak self] _ in self?.ended() }
  }

  /// A client for one request, which claims the hosts that redirects lead to.
  private func guardedClient(timeout: Duration) -> GuardedClient {
    let visited = VisitedHosts(
      visits, gap: options.gap, timeout: timeout, holding: claim.take().map { [$0] } ?? [],
      purpose: "to a request for a subscription")
    let guarded = visited.client(client, on: scheduler)
    hosts = (visited, guarded)
    return guarded
  }

  /// Frees the hosts of a request.
  func endVisits() {
    guard let (visited, client) = hosts.take() else { return }
    visited.end(client.end())
  }

  /// - Parameter lastHost: the host that responded or failed.
  private func responded(_ path: String, _ result: Result<HTTPResponse, HTTPError>, lastHost: String?) {
    let response = try? result.get()
    endVisits()
    let trouble: String
    switch result {
    case .success(let response) where (200...299).contains(response.status): return
    case .success(let response): trouble = "its hub responded with status \(response.status)"
    case .failure(let error): trouble = "the request to its hub failed (\(error))"
    }
    guard let address = addresses[path], var entry = entries[address] else { return }
    let pause = response.flatMap { AnswerFacts.retryAfter($0.headers, now: now()) }
    let hub = entry.lease.link.hub
    let works = response.map { $0.status != 429 && $0.status < 500 } ?? false
    // A host that redirects works, but this URL of it doesn't if the other host doesn't.
    let isOfHost = lastHost == hub.pollingHost
    let part = isOfHost ? hub.pollingHost : hub.absoluteString
    fail(&entry, trouble, pausing: pause ?? .zero, of: works ? nil : part)
    set(entry, of: address)
    if works {
      worked(entry.lease.link)
    } else if isOfHost {
      // Nothing is known about the other host.
      failed[hub.absoluteString]?.opens = now()
      failed[hub.absoluteString]?.isTried = false
    } else {
      worked(hub.pollingHost)
    }
  }

  private func ended() {
    (request, isBusy) = (nil, false)
    claim.take()?.cancel()
    endVisits()
    goOn()
  }
}

extension HubLink {
  /// The keys of ``HubSubscriber/failed`` that apply to this hub: its host, and its URL.
  fileprivate var failureKeys: [String] { [hub.pollingHost, hub.absoluteString] }
}
