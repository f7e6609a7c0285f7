import FeedStream
import FeedStreamTesting

/// A subject: a value goes to every subscriber with demand.
private class Subjects: Model {
  var attached: [Int] = []
  var demand: [Int: Int] = [:]
  var ending: Ending?

  override var isShared: Bool { true }
  override func subscribed(_ probe: Int) -> [Effect] {
    if let ending { return [.handOut(probe), .end(ending, to: probe)] }
    attached.append(probe)
    return [.handOut(probe)]
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand[probe] = sum(demand[probe] ?? 0, count)
    return []
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    ending == nil ? attached.map { .then(0, $0, value) } : []
  }
  override func then(_ token: Int, _ probe: Int, _ value: Int) -> [Effect] {
    guard attached.contains(probe) else { return [] }
    if token == 8, let ending {
      attached.removeAll { $0 == probe }
      return [.end(ending, to: probe)]
    }
    return take(probe) ? [.emit(value, to: probe)] : []
  }
  func take(_ probe: Int) -> Bool {
    guard let left = demand[probe], left > 0 else { return false }
    if left != .max { demand[probe] = left - 1 }
    return true
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    guard self.ending == nil else { return [] }
    self.ending = ending
    return attached.map { .then(8, $0) }
  }
  override func cancelled(_ probe: Int) -> [Effect] {
    attached.removeAll { $0 == probe }
    return []
  }
}

/// A subject with a current value, which each subscriber receives once. A value is sent to all subscribers immediately;
/// a subscriber without demand gets it with its next request, or after the sending if it returned demand meanwhile.
private final class Current: Subjects {
  private var values = [7]
  /// The subscribers that have not received the current value.
  private var missed: Set<Int> = []
  /// The subscribers that are catching up: their requests meanwhile are served afterwards.
  private var catching: Set<Int> = []
  /// The value that was current at each subscriber's last request: an older one is not delivered after it.
  private var position: [Int: Int] = [:]
  /// The number of values that are being sent, one within another.
  private var depth = 0
  private var current: Int { values.count - 1 }

  override func subscribed(_ probe: Int) -> [Effect] {
    missed.insert(probe)
    return super.subscribed(probe)
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    _ = super.requested(count, probe)
    return catchUp(probe)
  }
  override func answered(_ count: Int, _ probe: Int) -> [Effect] { super.requested(count, probe) }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    guard ending == nil else { return [] }
    values.append(value)
    depth += 1
    return attached.map { .then(0, $0, current) } + [.then(2)]
  }
  override func then(_ token: Int, _ probe: Int, _ version: Int) -> [Effect] {
    switch token {
    case 0: return send(version, to: probe)
    case 1:
      catching.remove(probe)
      return catchUp(probe)
    case 2:
      depth -= 1
      return depth == 0 ? attached.map { .then(3, $0) } : []
    case 3: return catchUp(probe)
    default: return super.then(token, probe, version)
    }
  }
  private func send(_ version: Int, to probe: Int) -> [Effect] {
    guard attached.contains(probe), position[probe] ?? -1 < version else { return [] }
    guard take(probe) else {
      if version == current { missed.insert(probe) }
      return []
    }
    if version == current { missed.remove(probe) }
    return [.emit(values[version], to: probe)]
  }
  private func catchUp(_ probe: Int) -> [Effect] {
    guard attached.contains(probe), missed.contains(probe) else { return [] }
    if demand[probe] ?? 0 > 0 { position[probe] = current }
    guard !catching.contains(probe), take(probe) else { return [] }
    missed.remove(probe)
    catching.insert(probe)
    return [.emit(values[current], to: probe), .then(1, probe)]
  }
}

/// One subscription to upstream through a subject, from the first subscriber to the last.
private final class Sharing: Subjects {
  private var connection: Int?
  private var isConnecting = false
  private var hasAsked = false

  override func subscribed(_ probe: Int) -> [Effect] {
    if ending != nil { return super.subscribed(probe) }
    return super.subscribed(probe) + [.then(1)]
  }
  override func began(_ source: Int) -> [Effect] {
    connection = source
    return hasAsked ? [.request(source, .max)] : []
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    _ = super.requested(count, probe)
    if hasAsked { return [] }
    hasAsked = true
    return connection.map { [.request($0, .max)] } ?? []
  }
  override func then(_ token: Int, _ probe: Int, _ value: Int) -> [Effect] {
    guard token == 1 else { return super.then(token, probe, value) }
    guard !isConnecting, ending == nil, !attached.isEmpty else { return [] }
    isConnecting = true
    return [.subscribe(0)]
  }
  override func cancelled(_ probe: Int) -> [Effect] {
    _ = super.cancelled(probe)
    guard attached.isEmpty, ending == nil, let connection else { return [] }
    self.connection = nil
    isConnecting = false
    return [.stop(connection)]
  }
}

/// As ``Sharing``, but through a subject that keeps the last values.
private final class ReplaySharing: Replaying {
  private var connection: Int?
  private var isConnecting = false
  private var hasAsked = false
  override func subscribed(_ probe: Int) -> [Effect] {
    super.subscribed(probe) + (ending == nil ? [.then(9)] : [])
  }
  override func began(_ source: Int) -> [Effect] {
    connection = source
    return hasAsked ? [.request(source, .max)] : []
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    if hasAsked { return super.requested(count, probe) }
    hasAsked = true
    return (connection.map { [.request($0, .max)] } ?? []) + super.requested(count, probe)
  }
  override func then(_ token: Int, _ probe: Int, _ value: Int) -> [Effect] {
    guard token == 9 else { return super.then(token, probe, value) }
    guard !isConnecting, ending == nil, !attached.isEmpty else { return [] }
    isConnecting = true
    return [.subscribe(0)]
  }
  override func cancelled(_ probe: Int) -> [Effect] {
    _ = super.cancelled(probe)
    guard attached.isEmpty, ending == nil, let connection else { return [] }
    self.connection = nil
    isConnecting = false
    return [.stop(connection)]
  }
}

var sharing: [Definition] {
  let shape = Shape(probes: 3, kinds: [.sync, .timed, .hot, .hot], steps: 12)
  let subject = Shape(probes: 3, hot: [0], steps: 12)
  return [
    Definition(
      name: "PassthroughSubject", shape: subject, model: { Subjects($0) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        let subject = PassthroughSubject<Int, TestError>()
        context.inlet(0, subject)
        return subject.eraseToAnyPublisher()
      }),
    Definition(
      name: "CurrentValueSubject", shape: subject, model: { Current($0) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        let subject = CurrentValueSubject<Int, TestError>(7)
        context.inlet(0, subject)
        return subject.eraseToAnyPublisher()
      }),
    Definition(
      name: "multicast, autoconnect", shape: shape, model: { Sharing($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().multicast { PassthroughSubject<Int, TestError>() }.autoconnect().eraseToAnyPublisher()
      }),
    // Nothing is sent within a delivery, as with ReplaySubject, and no subscriber attaches there: it would connect to a
    // publisher that delivers immediately.
    Definition(
      name: "share(replay:)",
      shape: Shape(
        probes: 3, kinds: [.sync, .timed, .hot], steps: 12, sendsWithin: false, attachesWithin: false),
      model: { ReplaySharing($0, keeps: $0[0, below: 4]) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().share(replay: context.parameters[0, below: 4]).eraseToAnyPublisher()
      }),
    Definition(
      name: "share", shape: shape, model: { Sharing($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().share().eraseToAnyPublisher()
      }),
  ]
}
