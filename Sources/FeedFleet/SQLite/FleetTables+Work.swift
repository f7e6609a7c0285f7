import FeedStream
import Foundation
import GRDB
import ImageFeed

extension FleetTables {
  func claim(_ wish: WorkClaim) throws -> WorkGrant {
    try forgetIdle()
    let due = try rows(
      "SELECT name, coalesce(paused, 0) AS paused FROM host WHERE opens <= ? ORDER BY opens, name LIMIT ?",
      [now, wish.count])
    var leases: [WorkLease] = []
    for row in due {
      let host: String = row["name"]
      guard let feed = try first(of: host), feed.due <= now, (row["paused"] as Int64) <= now,
        let address = URL(string: feed.address)
      else {
        try open(host, notBefore: 0)
        continue
      }
      let nonce = "\(wish.nonce).\(leases.count + 1)"
      try run(
        "UPDATE host SET opens = ?, nonce = ?, worker = ? WHERE name = ?",
        [now + wish.lease.milliseconds, nonce, wish.worker, host])
      // A record that makes no sense is none: the feed is requested as if for the first time.
      let record =
        feed.record.flatMap { FeedRecord($0, of: address) } ?? FeedRecord(health: FeedHealth(address: address))
      leases.append(
        WorkLease(
          host: host, nonce: nonce, address: address, due: Date(milliseconds: feed.due),
          version: feed.version.map { FeedVersion(microseconds: $0) }, record: record))
    }
    let next = try one(Int64.self, "SELECT opens FROM host WHERE opens IS NOT NULL ORDER BY opens LIMIT 1")
    return WorkGrant(
      leases: leases, now: Date(milliseconds: now),
      next: next.flatMap { $0 < Self.never ? Date(milliseconds: $0) : nil })
  }

  private typealias FirstFeed = (address: String, due: Int64, version: Int64?, record: String?)

  private func first(of host: String) throws -> FirstFeed? {
    try row(
      "SELECT address, due, version, record FROM feed WHERE host = ? ORDER BY due, address LIMIT 1", [host]
    )
    .map { ($0["address"], $0["due"], $0["version"], $0["record"]) }
  }

  func extend(_ host: String, _ nonce: String, by duration: Duration) throws -> Bool {
    try run(
      "UPDATE host SET opens = ? WHERE name = ? AND nonce = ?", [now + duration.milliseconds, host, nonce])
    return db.changesCount == 1
  }

  func complete(_ completion: WorkCompletion) throws -> WorkVerdict {
    let lease = completion.lease
    if let before = try row("SELECT entry FROM done WHERE nonce = ?", [lease.nonce]) {
      return .accepted((before["entry"] as Int64?).map { UpdateCursor("\($0)") })
    }
    let isOurs = try one(Int.self, "SELECT 1 FROM host WHERE name = ? AND nonce = ?", [lease.host, lease.nonce]) != nil
    guard isOurs else { return .lost }
    let address = lease.address.absoluteString
    let home = try one(Int64.self, "SELECT id FROM feed WHERE address = ? AND host = ?", [address, lease.host])
    guard let id = home else {
      try rest(lease.host, completion.gap)
      try open(lease.host, notBefore: 0)
      return .lost
    }
    let (verdict, entry) = try save(completion, in: id)
    try run(
      "UPDATE feed SET host = ?, due = ? WHERE id = ?",
      [completion.host, completion.due.map { $0.milliseconds } ?? Self.never, id])
    if let end = completion.pausedUntil {
      try run(
        "UPDATE host SET paused = ?1, reason = ?2 WHERE name = ?3 AND (paused IS NULL OR paused < ?1)",
        [end.milliseconds, completion.reason, lease.host])
    }
    try rest(lease.host, completion.gap)
    try open(lease.host, notBefore: 0)
    if completion.host != lease.host {
      try noteList()
      try rest(completion.host, completion.gap)
      try openIfFree(completion.host, notBefore: 0)
    }
    try run("DELETE FROM done WHERE until < ?", [now])
    try run("INSERT INTO done (nonce, until, entry) VALUES (?, ?, ?)", [lease.nonce, now + 300_000, entry])
    return verdict
  }

  /// Writes what came of a poll, over the version that the lease saw, or an older one.
  private func save(_ completion: WorkCompletion, in id: Int64) throws -> (WorkVerdict, entry: Int64?) {
    let there = try one(Int64.self, "SELECT version FROM feed WHERE id = ?", [id])
    let text = completion.record.text
    if let version = completion.version?.microseconds, let document = completion.document {
      if let there, there >= version, there <= (now + Int64(FleetRules.future)) * 1000 { return (.superseded, nil) }
      try run(
        "UPDATE feed SET version = ?, record = ?, document = ? WHERE id = ?",
        [version, text, document.withUnsafeBytes { Data($0) }, id])
      let entry = try append(FeedUpdate(address: completion.lease.address, version: FeedVersion(microseconds: version)))
      return (.accepted(UpdateCursor("\(entry)")), entry)
    }
    guard there == completion.lease.version?.microseconds else { return (.superseded, nil) }
    try run(
      "UPDATE feed SET version = ?, record = ? WHERE id = ?", [completion.version?.microseconds ?? there, text, id])
    return (.accepted(nil), nil)
  }

  func visit(_ host: String, _ nonce: String, by worker: String, for duration: Duration) throws -> WorkVisit {
    let there = try row("SELECT paused, reason, nonce, opens, rests FROM host WHERE name = ?", [host])
    if let until = there?["paused"] as Int64?, until > now {
      return .paused(until: until < Self.never ? Date(milliseconds: until) : nil, reason: there?["reason"] ?? "")
    }
    var busy = there?["rests"] as Int64? ?? 0
    if let other = there?["nonce"] as String?, other != nonce { busy = max(busy, there?["opens"] as Int64? ?? 0) }
    if busy > now { return .busy(for: .milliseconds(busy - now)) }
    try run(
      """
      INSERT INTO host (name, opens, nonce, worker) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (name) DO UPDATE SET opens = ?2, nonce = ?3, worker = ?4
      """, [host, now + duration.milliseconds, nonce, worker])
    return .granted
  }

  func endVisit(of host: String, _ nonce: String, gap: Duration) throws {
    guard try one(Int.self, "SELECT 1 FROM host WHERE name = ? AND nonce = ?", [host, nonce]) != nil else { return }
    try rest(host, gap)
    try open(host, notBefore: 0)
  }

  // MARK: Feeds and hosts

  func add(_ feeds: [NewFeed]) throws -> Int {
    var added = 0
    for feed in feeds {
      let (host, address) = (feed.address.pollingHost, feed.address.absoluteString)
      try run(
        """
        INSERT INTO feed (address, host, due) VALUES (?1, ?2, ?3)
        ON CONFLICT (address) DO UPDATE SET host = ?2, due = ?3 WHERE host IS NULL
        """, [address, host, now + feed.delay.milliseconds])
      guard db.changesCount == 1 else { continue }
      try openIfFree(host, notBefore: 0)
      added += 1
    }
    if added > 0 { try noteList() }
    return added
  }

  func remove(_ address: String) throws -> Bool {
    guard let host = try one(String.self, "SELECT host FROM feed WHERE address = ? AND host IS NOT NULL", [address])
    else {
      try run("DELETE FROM feed WHERE address = ?", [address])
      return false
    }
    try run("DELETE FROM feed WHERE address = ?", [address])
    try noteList()
    try openIfFree(host, notBefore: 0)
    return true
  }

  func pause(_ host: String, for duration: Duration?, because reason: String) throws {
    let end = duration.map { now + $0.milliseconds } ?? Self.never
    try run(
      """
      INSERT INTO host (name, paused, reason) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE SET paused = ?2, reason = ?3
      """, [host, end, reason])
    try openIfFree(host, notBefore: 0)
  }

  func resume(_ host: String) throws -> Bool {
    try run("UPDATE host SET paused = NULL, reason = '' WHERE name = ? AND paused IS NOT NULL", [host])
    guard db.changesCount == 1 else { return false }
    try openIfFree(host, notBefore: now)
    return true
  }
}

extension Duration {
  var milliseconds: Int64 { Int64(self / .milliseconds(1)) }
}
