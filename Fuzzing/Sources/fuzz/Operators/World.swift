import FeedStream
import FeedStreamTesting

typealias Upstream = AnyPublisher<Int, MarbleFailure>

/// Properties of a stream that follow from the operators it is made of.
struct Traits: OptionSet, Sendable {
  let rawValue: Int
  /// The values depend on when they were requested.
  static let dependsOnDemand = Traits(rawValue: 1 << 0)
  /// A failure overtakes values that wait for demand.
  static let failsAtOnce = Traits(rawValue: 1 << 1)
  /// The stream can fail.
  static let mayFail = Traits(rawValue: 1 << 2)
  /// A cancellation reaches upstream only at a later time.
  static let cancelsLate = Traits(rawValue: 1 << 3)
  /// The stream may stay open after everything upstream has completed.
  static let mayStayOpen = Traits(rawValue: 1 << 4)
}

/// The surroundings of one run of a program.
final class World {
  let time = VirtualTimeScheduler()
  /// The decisions made while the program runs.
  var tape: Tape
  /// True if the run requests everything, and does nothing else to the stream.
  let isQuiet: Bool
  /// The names of the program's parts, for the message.
  var names: [String] = []
  var traits: Traits = []
  /// The subjects to which a run may send values.
  var subjects: [(send: (Int) -> Void, end: (Subscribers.Completion<MarbleFailure>) -> Void)] = []
  weak var watcher: Watcher?
  /// The number of upstream subscriptions that are neither completed nor cancelled, and of those that exist.
  var live = 0
  var existing = 0
  var log: [String] = []
  private var actions = 64

  init(_ tape: Tape, isQuiet: Bool) {
    self.tape = tape
    self.isQuiet = isQuiet
    time.workLimit = 20_000
  }

  // The places from which a run acts on the stream. An operator's closure isn't one of them: an action there would
  // overtake the value that is passing through operators without state, as in Combine.
  enum Place {
    /// None of the stream's calls is on the stack.
    case outside
    /// The subscriber is being called.
    case subscriber
  }

  /// Acts on the stream, if the tape says so.
  func poke(_ place: Place) {
    guard !isQuiet, actions > 0, !tape.isEmpty else { return }
    let choice = tape.byte()
    actions -= 1
    switch choice % 16 {
    case 0..<(place == .outside ? 3 : 8): break
    case 3..<11: watcher?.ask(tape.demand())
    case 11, 12:
      guard !subjects.isEmpty else { return }
      let value = tape.below(8)
      note("send \(value)")
      subjects[tape.below(subjects.count)].send(value)
    case 13:
      guard !subjects.isEmpty else { return }
      let fails = tape.below(2) == 1
      note(fails ? "send a failure" : "send finished")
      subjects[tape.below(subjects.count)].end(fails ? .failure(MarbleFailure()) : .finished)
    default: watcher?.cancel()
    }
  }

  func note(_ what: String) { if isTelling { log.append("\(time.now.nanoseconds / 1_000_000) ms: \(what)") } }

  func broken(_ rule: Int, _ what: String) -> Never {
    finding("rule \(rule): \(what)\n  \(names.joined(separator: "\n  "))\n---\n  \(log.joined(separator: "\n  "))")
  }
}

/// True to print the events of each run: set `FUZZ_TELL=1` to examine a finding.
nonisolated(unsafe) var isTelling = false  // Written once, before the first run.
