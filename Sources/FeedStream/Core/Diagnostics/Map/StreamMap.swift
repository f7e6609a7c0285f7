/// The live streams of a program at one moment: a node for each source, operator and subscriber, and the paths between
/// them.
///
/// ``StreamDiagnostics/startMap(_:)`` turns the map on, and ``StreamDiagnostics/snapshot(limit:)`` returns its current
/// state. The map's text begins with the places where streams may be stuck.
public struct StreamMap: Sendable, Hashable, Encodable {
  /// A source, an operator, or the subscriber at the end of a stream.
  public struct Node: Sendable, Hashable, Identifiable {
    /// The index in the map's ``StreamMap/nodes``.
    public internal(set) var id: Int
    /// The name of the operator, the source or the subscriber, such as `Buffer`.
    public let name: String
    /// The file and line of the `sink`, of the `checkpoint` (with its name), or of the call that made the subject;
    /// `nil` for other nodes.
    public internal(set) var place: String?
    /// The name of the loop on which the node lives.
    public let loop: String
    /// The nodes above this one, from which it receives values.
    public internal(set) var upstreams: [Int] = []
    /// The number of values that have arrived since the node subscribed; `nil` if they aren't counted: between
    /// stateless operators, which the compiler merges, and in streams that began while the map was off.
    public internal(set) var received: Int?
    /// The number of values that the node has passed on; `nil` if they aren't counted.
    public internal(set) var delivered: Int?
    /// The number of values that the subscriber has requested but not received; `nil` if the node passes requests on.
    public internal(set) var demand: Subscribers.Demand?
    /// The number of values that the node holds.
    public internal(set) var held = 0
    /// The number of values that the node can hold; `nil` if it has no limit.
    public internal(set) var capacity: Int?
    /// True while the node waits for a timer before it delivers an event.
    public internal(set) var waitsForTime = false
    /// True if the node has completed or was cancelled.
    public internal(set) var isOver = false
    /// True for the subscriber at the end of a stream.
    public internal(set) var isEnd = false
    /// The failure that has passed through this node.
    public internal(set) var failure: String?
    /// The time since the node's last event, by the loop's clock; `nil` if no event was counted. All events of one turn
    /// have the time of the first.
    public internal(set) var sinceLastEvent: Duration?
    /// Anything else about the node, such as the number of attempts that failed below `retry`; `nil` for most nodes.
    public internal(set) var note: String?
    /// Facts that the node's member reports for the findings.
    var hints = Hints()

    init(id: Int, name: String, loop: String) {
      self.id = id
      self.name = name
      self.loop = loop
    }
  }

  /// Facts that a member reports to the map for its findings, and for joining the parts of a stream.
  struct Hints: Sendable, Hashable {
    /// The number of values that the node holds for each of its upstreams, in the order of the upstreams.
    var partners: [Int] = []
    /// The finding about a node that waits for upstream's completion.
    var completion: String?
    /// The finding about a node that holds values for which there is no subscriber.
    var heldForNobody: String?
    /// The reason why nothing is delivered.
    var reason: String?
    /// The reason why the nodes above deliver nothing.
    var reasonAbove: String?
    /// The bridge, for the end of a part whose values go to another home.
    var bridge: ObjectIdentifier?
    /// The bridges above the node. An upstream of -1 represents the first bridge, and -2 the second.
    var bridgesAbove: [ObjectIdentifier] = []
    var onlyMoves = false
    /// True for a subscription whose type isn't from this library.
    var isForeign = false
  }

  /// The reason why a stream may be stuck.
  public enum Reason: String, Sendable, Hashable, CaseIterable, Codable {
    /// A buffer has no room left.
    case bufferIsFull
    /// The node holds values that have not been requested.
    case valuesNobodyRequested
    /// Values from one upstream wait for values from another.
    case waitsForPartner
    /// Values are requested, but do not arrive.
    case demandNobodyServes
    /// The source must not deliver, because no value has been requested.
    case nobodyRequests
    /// Values arrive, but none is passed on.
    case passesNothing
    /// Nothing is delivered before upstream completes.
    case waitsForCompletion
    /// A timer is set.
    case waitsForTime
  }

  /// A place where a stream may be stuck. A stream that is merely idle looks the same.
  public struct Finding: Sendable, Hashable, Encodable {
    /// The index of the node.
    public internal(set) var node: Int
    public let reason: Reason
    /// The reason with its numbers, such as `its buffer is full (16 of 16)`.
    public let message: String
  }

  /// The nodes; the index of each one is its ``Node/id``.
  public private(set) var nodes: [Node]
  /// The places where streams may be stuck, the most certain first.
  public internal(set) var findings: [Finding] = []
  /// The loops that have not responded in time, because they are blocked or do not run.
  public internal(set) var silentLoops: [String] = []
  /// True when there are more nodes than the limit.
  public private(set) var isCut: Bool

  init(nodes: [Node] = [], isCut: Bool = false) {
    self.nodes = nodes
    self.isCut = isCut
  }

  /// Joins the parts of streams that cross to a queue or to another loop, and names the places where streams may be
  /// stuck.
  mutating func finish() {
    joinParts()
    find()
  }

  private mutating func joinParts() {
    var ends: [ObjectIdentifier: Int] = [:]
    for node in nodes { if let bridge = node.hints.bridge { ends[bridge] = node.id } }
    var joined: Set<Int> = []
    for index in nodes.indices where !nodes[index].hints.bridgesAbove.isEmpty {
      let node = nodes[index]
      nodes[index].upstreams = node.upstreams.flatMap { upstream in
        guard upstream < 0 else { return [upstream] }
        guard let end = ends[node.hints.bridgesAbove[-upstream - 1]] else { return [] }
        joined.insert(end)
        if node.hints.onlyMoves { takeOver(end, at: index) }
        return nodes[end].upstreams
      }
    }
    if !joined.isEmpty { remove(joined) }
  }

  /// Adds the counts of `end`, the end of the part above, to the node `index`, which only moves values.
  private mutating func takeOver(_ end: Int, at index: Int) {
    nodes[index].held += nodes[end].held
    nodes[index].waitsForTime = nodes[index].waitsForTime || nodes[end].waitsForTime
    guard let delivered = nodes[index].delivered else { return }
    nodes[index].received = delivered + nodes[index].held
    for above in nodes[end].upstreams where above >= 0 && nodes[above].delivered == nil {
      nodes[above].delivered = nodes[index].received
    }
  }

  /// Removes nodes, none of which is an upstream of another node.
  private mutating func remove(_ removed: Set<Int>) {
    var ids: [Int: Int] = [:]
    for node in nodes where !removed.contains(node.id) { ids[node.id] = ids.count }
    nodes = nodes.compactMap { node in
      guard let id = ids[node.id] else { return nil }
      var node = node
      node.id = id
      node.upstreams = node.upstreams.compactMap { ids[$0] }
      return node
    }
  }

  /// Adds the streams of another loop. Call ``finish()`` when all streams have been added.
  mutating func add(_ other: StreamMap) {
    let offset = nodes.count
    for var node in other.nodes {
      node.id += offset
      node.upstreams = node.upstreams.map { $0 < 0 ? $0 : $0 + offset }
      nodes.append(node)
    }
    isCut = isCut || other.isCut
    silentLoops += other.silentLoops
  }

  /// The indices of the ends of streams that this node's values reach.
  public func ends(below node: Int) -> [Int] {
    var (open, seen, ends) = ([node], Set([node]), [Int]())
    while let next = open.popLast() {
      if nodes[next].isEnd { ends.append(next) }
      for below in nodes where below.upstreams.contains(next) && seen.insert(below.id).inserted {
        open.append(below.id)
      }
    }
    return ends.sorted()
  }
}
