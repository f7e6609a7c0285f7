/// Walks from the ends of streams up to their sources, and makes a node for each member.
struct MapReader {
  private let loop: String
  private let limit: Int
  private var nodes: [StreamMap.Node] = []
  /// The number of values that each node holds for each of its upstreams, in the order of the upstreams.
  private var partners: [Int: [Int]] = [:]
  /// The findings about members that wait for upstream's completion.
  private var completing: [Int: String] = [:]
  /// The reasons that members give for delivering nothing.
  private var reasons: [Int: String] = [:]
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
    if end is MapBridge { nodes[node].bridge = ObjectIdentifier(end) }
    nodes[node].place = place.map { "\($0)" } ?? nodes[node].place
    if let tally { note(tally, arrivingAt: node) }
    if let upstream = end.upstream { visit(upstream, above: node, end) }
  }

  func finish() -> StreamMap {
    var map = StreamMap(nodes: nodes, isCut: isCut)
    map.find(partners, completing, reasons)
    return map
  }

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
    guard let last = tally.last, let now = tally.home.now() else { return }
    let since = Duration.nanoseconds(max(0, now - last))
    nodes[node].sinceLastEvent = min(nodes[node].sinceLastEvent ?? since, since)
  }

  /// Adds the members above `node`, which represents `object`.
  private mutating func visit(_ subscription: Any, above node: Int, _ object: AnyObject) {
    guard let member = subscription as? any MapMember else {
      // The subscription's type is not from this library.
      let name = operatorName(of: type(of: subscription))
      if let source = add(name, subscription as AnyObject) { nodes[node].upstreams.append(source) }
      return
    }
    var facts = StreamFacts(member.description)
    member.tell(&facts)
    if facts.isTransparent {
      for upstream in facts.upstreams { visit(upstream, above: node, object) }
      if let bridge = facts.bridge { nodes[node].bridgesAbove.append(ObjectIdentifier(bridge)) }
      return
    }
    if let source = known[ObjectIdentifier(member)] { return nodes[node].upstreams.append(source) }
    guard let source = add(facts.name, member) else { return }
    nodes[source].place = facts.place
    nodes[source].demand = facts.demand
    nodes[source].held = facts.held
    nodes[source].capacity = facts.capacity
    nodes[source].waitsForTime = facts.waitsForTime
    nodes[source].isOver = facts.isOver
    nodes[source].note = facts.note
    if let bridge = facts.bridge { nodes[source].bridgesAbove.append(ObjectIdentifier(bridge)) }
    if !facts.partners.isEmpty { partners[source] = facts.partners }
    completing[source] = facts.waitsForCompletion
    reasons[source] = facts.reason
    join(source, to: node, facts)
    for upstream in facts.upstreams { visit(upstream, above: source, member) }
    if let reason = facts.reasonAbove { for above in nodes[source].upstreams { reasons[above] = reason } }
  }

  /// Connects a subscription with the node below, through the stateless operators between them.
  private mutating func join(_ source: Int, to node: Int, _ facts: StreamFacts) {
    var (upper, link, tally) = (source, facts.below, facts.delivered)
    if let tally {
      nodes[source].delivered = tally.count
      note(tally, in: source)
    }
    // Bounded, in case a subscriber is its own downstream.
    for _ in 0..<1_000 {
      // Stop at an object: it is the node below, or leads to that node.
      guard let present = link, !(type(of: present) is AnyClass), let member = present as? any Traceable else { break }
      if let erased = member as? any ErasedLink {
        tally = erased.tally ?? tally
      } else if let next = add(operatorName(of: type(of: member)), nil) {
        nodes[next].place = member.checkpoint.map { "\($0)" }
        nodes[next].upstreams.append(upper)
        if let tally { note(tally, arrivingAt: next) }
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
