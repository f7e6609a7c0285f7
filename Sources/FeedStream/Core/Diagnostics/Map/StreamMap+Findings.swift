extension StreamMap {
  /// Names the places where streams may be stuck.
  mutating func find() {
    let (below, active, reasons) = (nodesBelow, activeNodes, self.reasons)
    for node in nodes where !node.isOver && !active.contains(node.id) {
      if let finding = finding(for: node, below) {
        let hasReason = [.demandNobodyServes, .passesNothing, .waitsForTime].contains(finding.0)
        let reason = hasReason ? reasons[node.id].map { "; \($0)" } ?? "" : ""
        findings.append(Finding(node: node.id, reason: finding.0, message: finding.1 + reason))
      }
    }
    let order = Reason.allCases
    findings.sort { (order.firstIndex(of: $0.reason)!, $0.node) < (order.firstIndex(of: $1.reason)!, $1.node) }
  }

  /// The nodes of streams whose ends have received a value within the last second: these streams aren't stuck.
  private var activeNodes: Set<Int> {
    above(nodes.filter { $0.isEnd && $0.received ?? 0 > 0 && $0.sinceLastEvent ?? .seconds(1) < .seconds(1) }.map(\.id))
  }

  /// The given nodes, and all nodes above them.
  private func above(_ ids: [Int]) -> Set<Int> {
    var (open, seen) = (ids, Set(ids))
    while let next = open.popLast() {
      for upstream in nodes[next].upstreams where seen.insert(upstream).inserted { open.append(upstream) }
    }
    return seen
  }

  /// The reasons why nodes deliver nothing, as members report them about themselves or about the nodes above.
  private var reasons: [Int: String] {
    var reasons: [Int: String] = [:]
    for node in nodes {
      if let reason = node.hints.reason { reasons[node.id] = reason }
      guard let reason = node.hints.reasonAbove else { continue }
      for id in above(node.upstreams) where nodes[id].hints.reason == nil { reasons[id] = reason }
    }
    return reasons
  }

  /// The nodes directly below each node.
  var nodesBelow: [[Int]] {
    var below = [[Int]](repeating: [], count: nodes.count)
    for node in nodes { for upstream in node.upstreams { below[upstream].append(node.id) } }
    return below
  }

  private func finding(for node: Node, _ below: [[Int]]) -> (Reason, String)? {
    let values = node.held == 1 ? "1 value" : "\(node.held) values"
    if let capacity = node.capacity, node.held >= capacity, capacity > 0 {
      let cause =
        node.demand == Subscribers.Demand.none ? "; nobody below has requested more\(waiting(below: node, below))" : ""
      return (.bufferIsFull, "its buffer is full (\(node.held) of \(capacity))\(cause)")
    }
    if node.held > 0, node.demand == Subscribers.Demand.none {
      return (.valuesNobodyRequested, "holds \(values) that nobody has requested\(waiting(below: node, below))")
    }
    if let held = node.hints.heldForNobody { return (.valuesNobodyRequested, held) }
    let partners = node.hints.partners
    if node.held > 0, let empty = partners.firstIndex(of: 0) {
      let missing = partners.count == node.upstreams.count ? ": \(title(node.upstreams[empty]))" : ""
      let wait = node.held == 1 ? "waits" : "wait"
      return (.waitsForPartner, "holds \(values) that \(wait) for a value from upstream \(empty + 1)\(missing)")
    }
    // Skip a source that has delivered: a repeating source always waits for its timer. Also skip a source without
    // demand.
    let isIdleSource = node.upstreams.isEmpty && (node.delivered ?? 0 > 0 || node.demand == Subscribers.Demand.none)
    if node.waitsForTime, !isIdleSource {
      let wasInVain = node.delivered == 0 && (node.received ?? 0) > 1
      return (
        .waitsForTime,
        "waits for its timer" + (node.held > 0 ? ", with \(values)" : "")
          + (wasInVain ? "; \(node.received!) arrived, and none was passed on" : "")
      )
    }
    if let completion = node.hints.completion { return (.waitsForCompletion, completion) }
    if node.upstreams.isEmpty, !node.isEnd { return finding(forSource: node, below) }
    if let received = node.received, received > 0, node.held == 0, !node.isEnd {
      return finding(after: received, node, below)
    }
    return nil
  }

  private func finding(forSource node: Node, _ below: [[Int]]) -> (Reason, String)? {
    if node.hints.isForeign { return finding(forForeign: node, below) }
    guard let demand = node.demand else { return nil }
    let count = node.delivered ?? 0
    guard demand > .none else {
      let value = count == 0 ? "a value" : "another value"
      return (.nobodyRequests, "nobody below has requested \(value)\(waiting(below: node, below))")
    }
    guard let wanted = demand.max else {
      return count == 0 ? (.demandNobodyServes, "unlimited demand, but no value has arrived") : nil
    }
    // A source that has just delivered isn't stuck: the subscriber requests one value after another.
    if count > 0, let last = node.sinceLastEvent, last < .seconds(1) { return nil }
    let since = node.sinceLastEvent.map { ", the last \($0.readable) ago" } ?? ""
    return (
      .demandNobodyServes,
      "demand for \(wanted) is unmet; \(count == 0 ? "no value has arrived" : "\(count) arrived before\(since)")"
    )
  }

  /// The finding about a subscription from outside this library: only the values that arrive below it are counted.
  private func finding(forForeign node: Node, _ below: [[Int]]) -> (Reason, String)? {
    guard node.delivered == nil else {
      return node.delivered == 0
        ? (.demandNobodyServes, "no value has arrived from this subscription, whose demand isn't known") : nil
    }
    guard let next = below[node.id].first.map({ nodes[$0] }), next.delivered == 0, next.held == 0 else { return nil }
    return (
      .demandNobodyServes,
      "no value from this subscription has passed \(next.name); the demand of the subscription isn't known"
    )
  }

  /// Names the publisher that the operator below `source` waits for, such as the one that
  /// `flatMap(maxPublishers: .max(1))` runs; empty if the operator waits for none.
  private func waiting(below source: Node, _ below: [[Int]]) -> String {
    guard let below = below[source.id].first.map({ nodes[$0] }), below.held == 0,
      // Without demand of its own, the operator waits for its subscriber.
      below.demand != Subscribers.Demand.none,
      let running = below.upstreams.first(where: { $0 != source.id && !nodes[$0].isOver })
    else { return "" }
    return ": \(below.name) waits for the completion of \(title(running))"
  }

  /// Follows the events that arrive at `node` down to the next operator whose deliveries are counted.
  private func finding(after received: Int, _ node: Node, _ below: [[Int]]) -> (Reason, String)? {
    var (last, names) = (node, [node.name])
    while last.delivered == nil {
      guard below[last.id].count == 1, let next = below[last.id].first.map({ nodes[$0] }), next.received == nil,
        !next.isEnd
      else {
        return nil
      }
      if next.demand != nil {
        // The operator has demand of its own, so it would hold arriving values, or wait for a timer or another
        // publisher.
        guard next.delivered == 0, next.held == 0, !next.waitsForTime, next.upstreams.count == 1,
          next.hints.completion == nil, next.hints.reason == nil
        else { return nil }
        break
      }
      last = next
      names.append(next.name)
    }
    // Skip an operator that has a finding of its own.
    guard last.delivered ?? 0 == 0, !last.waitsForTime, last.held == 0, last.hints.completion == nil else { return nil }
    let what =
      received == 1 ? "1 value arrived, but was not passed on" : "\(received) values arrived, but none was passed on"
    return (.passesNothing, names.count == 1 ? what : "\(what) by \(names.joined(separator: ", "))")
  }
}

extension Duration {
  /// The duration as text, such as `2.1 s`.
  var readable: String {
    let (seconds, attoseconds) = components
    let milliseconds = attoseconds / 1_000_000_000_000_000
    if seconds >= 60 { return "\(seconds / 60) min \(seconds % 60) s" }
    return seconds > 0 ? "\(seconds).\(milliseconds / 100) s" : "\(milliseconds) ms"
  }
}
