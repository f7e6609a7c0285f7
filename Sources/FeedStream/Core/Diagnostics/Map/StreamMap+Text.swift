extension StreamMap: CustomStringConvertible {
  /// The map for a terminal: first the places where streams may be stuck, then each stream from its end up to its
  /// sources.
  ///
  /// ```text
  /// 1 stream on the main thread. Places that may be stuck:
  /// - Buffer (Sink, App/main.swift:12): its buffer is full (16 of 16); nobody below has requested more
  ///
  /// the main thread
  /// Sink, App/main.swift:12 · in 3 · 2.1 s ago
  /// └─ Buffer · in 19 · out 3 · demand 0 · holds 16 of 16
  ///    └─ PassthroughSubject, App/main.swift:10 · out 19 · unlimited demand
  /// ```
  public var description: String {
    let ends = nodes.filter(\.isEnd)
    var lines = ["\(ends.count) stream\(ends.count == 1 ? "" : "s")"]
    if nodes.isEmpty, !LiveMap.isOn {
      return
        "The map is off, so it shows no streams. Call StreamDiagnostics.startMap() to turn it on for streams that begin later."
    }
    lines[0] += findings.isEmpty && silentLoops.isEmpty ? "; none looks stuck." : ". Places that may be stuck:"
    lines += stuckPlaces.map { "- \($0.title): \($0.message)" }
    for loop in silentLoops {
      lines.append("- \(loop) does not respond, because it is blocked or not running; its streams are missing here")
    }
    if isCut { lines.append("- this map has reached its limit, so some nodes are missing here") }
    var seen: Set<Int> = []
    var loop: String?
    for end in ends {
      if end.loop != loop { lines += ["", end.loop] }
      loop = end.loop
      tree(end.id, end.loop, "", "", &lines, &seen)
    }
    return lines.joined(separator: "\n")
  }

  /// The findings as text, the most certain first. Findings with the same text, such as those of a hundred inner
  /// streams of one `flatMap`, are listed once, with a count.
  public var stuckPlaces: [(title: String, message: String)] {
    var places: [(title: String, message: String)] = []
    var counts: [Int] = []
    var known: [String: Int] = [:]
    let below = nodesBelow
    for finding in findings {
      let place = (title: stuckTitle(finding.node, below), message: finding.message)
      let text = "\(place.title): \(place.message)"
      if let index = known[text] {
        counts[index] += 1
      } else {
        known[text] = places.count
        places.append(place)
        counts.append(1)
      }
    }
    return zip(places, counts).map { place, count in
      count == 1 ? place : (place.title, "\(place.message) (\(count) like this)")
    }
  }

  private func tree(
    _ id: Int, _ loop: String, _ first: String, _ rest: String, _ lines: inout [String], _ seen: inout Set<Int>
  ) {
    let node = nodes[id]
    guard seen.insert(id).inserted else {
      lines.append("\(first)\(title(id)) (above)")
      return
    }
    let elsewhere = node.loop == loop ? [] : ["on \(node.loop)"]
    lines.append(first + ([title(id)] + facts(of: node) + elsewhere).joined(separator: " · "))
    for (index, upstream) in node.upstreams.enumerated() {
      let isLast = index == node.upstreams.count - 1
      tree(upstream, node.loop, rest + (isLast ? "└─ " : "├─ "), rest + (isLast ? "   " : "│  "), &lines, &seen)
    }
  }

  /// The name of a node, and its place if it has one.
  public func title(_ node: Int) -> String {
    nodes[node].place.map { "\(nodes[node].name), \($0)" } ?? nodes[node].name
  }

  /// The name and place of a node. If the node has no place, the title includes the nearest node below it that has one:
  /// a checkpoint, or the end of the stream.
  public func stuckTitle(_ node: Int) -> String {
    stuckTitle(node, nodesBelow)
  }

  private func stuckTitle(_ node: Int, _ below: [[Int]]) -> String {
    var last = node
    // Bounded, in case a subject feeds itself.
    for _ in nodes {
      guard nodes[last].place == nil, let next = below[last].first else { break }
      last = next
    }
    return last == node ? title(node) : "\(nodes[node].name) (\(title(last)))"
  }

  /// Facts about a node as short phrases, such as `in 19` and `holds 16 of 16`.
  public func facts(of node: Node) -> [String] {
    var facts: [String] = []
    if let received = node.received { facts.append("in \(received)") }
    if let delivered = node.delivered { facts.append("out \(delivered)") }
    if let demand = node.demand { facts.append(demand.max.map { "demand \($0)" } ?? "unlimited demand") }
    if node.held > 0 { facts.append("holds \(node.held)" + (node.capacity.map { " of \($0)" } ?? "")) }
    if node.waitsForTime { facts.append("waits for its timer") }
    if let failure = node.failure { facts.append("failed: \(failure)") }
    if let note = node.note { facts.append(note) }
    if node.isOver { facts.append("over") }
    if let since = node.sinceLastEvent { facts.append("\(since.readable) ago") }
    return facts
  }
}
