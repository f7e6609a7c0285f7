/// Walks from the ends of streams up to their sources, and makes a node for each member.
struct MapReader {
  private let loop: String
  private let limit: Int
  private var nodes: [StreamMap.Node] = []
  private var known: [ObjectIdentifier: Int] = [:]
  private var isCut = false

  init(_ loop: String, limit: Int) {
    self.loop = loop
    self.limit = limit
  }

  /// Adds the end of a stream, and everything above it.
  mutating func read(_ end: any LiveSubscriber, _ place: SourcePlace?, _ tally: Tally?) {
    let name = (end as? any CustomStringConvertible)?.description ?? operatorName(of: type(of: end))
    guard let node = known[ObjectIdentifier(end)] ?? add(name, end) else { return }
    nodes[node].isEnd = true
    nodes[node].place = place.map { "\($0)" } ?? nodes[node].place
    if let bridge = end as? MapBridge {
      nodes[node].hints.bridge = ObjectIdentifier(bridge)
      nodes[node].held = bridge.held()
      nodes[node].waitsForTime = nodes[node].held > 0
    }
    // Skip the counts if another thread may be changing them.
    if let tally, end.mayBeRead { note(tally, arrivingAt: node) }
    // An end that is also a member may have been visited.
    if nodes[node].upstreams.isEmpty, end.hasArrived, let upstream = end.upstream { visit(upstream, above: node, end) }
  }

  func finish() -> StreamMap { StreamMap(nodes: nodes, isCut: isCut) }

  // MARK: Nodes

  private mutating func add(_ name: String, _ object: AnyObject?) -> Int? {
    guard nodes.count < limit else {
      isCut = true
      return nil
    }
    if let object { known[ObjectIdentifier(object)] = nodes.count }
    nodes.append(StreamMap.Node(id: nodes.count, name: name, loop: loop))
    return nodes.count - 1
  }

  private mutating func note(_ tally: Tally, arrivingAt node: Int) {
    nodes[node].received = (nodes[node].received ?? 0) + tally.count
    note(tally, in: node)
  }

  private mutating func note(_ tally: Tally, in node: Int) {
    nodes[node].failure = tally.failure ?? nodes[node].failure
    guard let last = tally.last, let now = tally.now else { return }
    let since = Duration.nanoseconds(max(0, now - last))
    nodes[node].sinceLastEvent = min(nodes[node].sinceLastEvent ?? since, since)
  }

  /// Adds the members above `node`, which represents `object`.
  private mutating func visit(_ subscription: Any, above node: Int, _ object: AnyObject) {
    if let bridge = subscription as? MapBridge {
      nodes[node].hints.bridgesAbove.append(ObjectIdentifier(bridge))
      nodes[node].upstreams.append(-nodes[node].hints.bridgesAbove.count)
      return
    }
    if let passing = subscription as? any PassingSubscription { return visit(passing.passed, above: node, object) }
    guard let member = subscription as? any MapMember else {
      // The subscription's type is not from this library.
      let name = operatorName(of: type(of: subscription))
      guard let source = add(name, subscription as AnyObject) else { return }
      nodes[source].hints.isForeign = true
      nodes[source].delivered = nodes[node].received
      nodes[node].upstreams.append(source)
      return
    }
    guard member.beginsReading() else {
      if let source = add(operatorName(of: type(of: member)), member) {
        nodes[source].note = "not read, because another thread is using it"
        nodes[node].upstreams.append(source)
      }
      return
    }
    defer { member.endsReading() }
    var facts = StreamFacts(member.description)
    member.tell(&facts)
    if facts.isTransparent {
      for upstream in facts.upstreams { visit(upstream, above: node, object) }
      return
    }
    if let source = known[ObjectIdentifier(member)] {
      if !nodes[node].upstreams.contains(source) { nodes[node].upstreams.append(source) }
      return
    }
    // A time operator with a queue has two stages, here and on the queue: both are one node.
    let isOneNode = object is MapBridge && !facts.onlyMoves && facts.name == nodes[node].name
    guard let source = isOneNode ? node : add(facts.name, member) else { return }
    if isOneNode { known[ObjectIdentifier(member)] = node }
    nodes[source].place = facts.place
    nodes[source].demand = facts.demand
    nodes[source].held += facts.held
    nodes[source].capacity = facts.capacity
    nodes[source].waitsForTime = nodes[source].waitsForTime || facts.waitsForTime
    nodes[source].isOver = facts.isOver
    nodes[source].note = facts.note
    nodes[source].hints.partners = facts.partners
    nodes[source].hints.completion = facts.waitsForCompletion
    nodes[source].hints.heldForNobody = facts.heldForNobody
    nodes[source].hints.reason = facts.reason
    nodes[source].hints.reasonAbove = facts.reasonAbove
    nodes[source].hints.onlyMoves = facts.onlyMoves
    if isOneNode {
      nodes[node].delivered = facts.delivered?.count
      if let tally = facts.delivered { note(tally, in: node) }
    } else {
      join(source, to: node, facts)
    }
    for upstream in facts.upstreams { visit(upstream, above: source, member) }
    if facts.joins { nodes[source].received = nil }
  }

  /// Connects a subscription with the node below, through the stateless operators between them.
  private mutating func join(_ source: Int, to node: Int, _ facts: StreamFacts) {
    var (upper, link, tally) = (source, facts.below, facts.delivered)
    if let tally {
      nodes[source].delivered = tally.count
      note(tally, in: source)
    }
    // Bounded, in case a subscriber is its own downstream.
    for _ in 0..<2 * limit {
      if let passing = link as? any PassingSubscriber {
        link = passing.passed
        continue
      }
      // Stop at an object: it is the node below, or leads to that node.
      guard let present = link, !(type(of: present) is AnyClass), let member = present as? any Traceable else { break }
      if let erased = member as? any ErasedLink {
        tally = erased.tally ?? tally
      } else if let next = add(operatorName(of: type(of: member)), nil) {
        nodes[next].place = member.checkpoint.map { "\($0)" }
        nodes[next].upstreams.append(upper)
        if let tally {
          note(tally, arrivingAt: next)
          if upper != source { nodes[upper].delivered = tally.count }
        }
        tally = nil
        upper = next
      }
      link = member.below
    }
    nodes[node].upstreams.append(upper)
    if let tally, !nodes[node].isEnd || nodes[node].received == nil { note(tally, arrivingAt: node) }
    if upper != source { nodes[upper].delivered = tally?.count ?? (nodes[node].isEnd ? nodes[node].received : nil) }
  }
}
