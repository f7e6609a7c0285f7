import FeedStream
import FeedStreamTesting

enum What: Equatable {
  case subscribed
  case value(Int)
  case finished
  case failed(Int)
  case source(spec: Int, isLive: Bool, delivered: Int, demand: Int)
  case broken(String)
}

/// An event and its time, in milliseconds.
struct Entry: Equatable {
  var time: Int
  /// The number of the subscriber, or of the source.
  var who: Int
  var what: What
}

/// Plays a case with a chain, or with a model.
final class Run {
  let scenario: Case
  let time = VirtualTimeScheduler()
  let census = Census()
  private(set) var sources: [Source] = []
  private(set) var probes: [Probe] = []
  private(set) var log: [Entry] = []
  /// The completions that were sent to hot publishers.
  private(set) var endings: [Int: Ending] = [:]
  /// The chain's own subjects, to which the case sends values.
  var inlets: [Int: (send: (Int) -> Void, end: (Ending) -> Void)] = [:]
  var attach: ((Probe) -> Void)?
  private var patience = 300

  init(_ scenario: Case) {
    self.scenario = scenario
    probes = scenario.initial.indices.map { Probe($0, self) }
    log.reserveCapacity(64)
  }

  /// False when the case has delivered more values than a useful one does.
  func hasPatience() -> Bool {
    patience -= 1
    return patience > 0
  }

  func note(_ who: Int, _ what: What) {
    log.append(Entry(time: Int(time.now.nanoseconds / 1_000_000), who: who, what: what))
  }

  func makeSource(_ spec: Int) -> Source {
    let source = Source(spec, self)
    sources.append(source)
    return source
  }

  func act(_ action: Action) {
    switch action {
    case .attach(let probe):
      guard !probes[probe].isAttached else { return }
      probes[probe].isAttached = true
      attach?(probes[probe])
    case .request(let probe, let count): probes[probe].request(count)
    case .cancel(let probe): probes[probe].cancel()
    case .send(let source, let value):
      if let inlet = inlets[source] { return inlet.send(value) }
      guard endings[source] == nil else { return }
      for one in sources where one.spec == source { one.offer(value) }
    case .end(let source, let ending):
      if let inlet = inlets[source] { return inlet.end(ending) }
      guard endings[source] == nil else { return }
      endings[source] = ending
      for one in sources where one.spec == source { one.stop(with: ending) }
    }
  }

  func play() {
    for step in scenario.script {
      time.advance(to: StreamInstant(nanoseconds: Int64(step.time) * 1_000_000))
      act(step.action)
      look()
    }
    time.advance(by: .milliseconds(900))
    look()
    for probe in probes { probe.cancel() }
    if scenario.cancelsLater { time.advance(by: .milliseconds(1)) }
    look()
  }

  private func look() {
    for (number, source) in sources.enumerated() { note(number, source.state) }
  }

  /// Releases everything.
  func close() {
    attach = nil
    inlets = [:]
    for source in sources { source.cancel() }
    sources = []
    for probe in probes { probe.release() }
    probes = []
  }
}
