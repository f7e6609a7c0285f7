import FeedStream

struct TestError: Error, Equatable { var code: Int }

enum Ending: Equatable {
  case finished
  case failed(Int)

  var completion: Subscribers.Completion<TestError> {
    switch self {
    case .finished: .finished
    case .failed(let code): .failure(TestError(code: code))
    }
  }

  init(_ completion: Subscribers.Completion<TestError>) {
    switch completion {
    case .finished: self = .finished
    case .failure(let error): self = .failed(error.code)
    }
  }
}

/// An action from outside, or within a delivery.
enum Action {
  case send(source: Int, Int)
  case end(source: Int, Ending)
  /// `Int.max` requests everything.
  case request(probe: Int, Int)
  case cancel(probe: Int)
  case attach(probe: Int)
}

/// A publisher of the case.
struct SourceSpec {
  enum Kind {
    /// Delivers within the requesting call.
    case sync
    /// Delivers each value after its gap, once it is requested, too.
    case timed
    /// Delivers the values that are sent to it; drops those without demand.
    case hot
    /// A `sync` publisher that repeats its values endlessly.
    case endless
  }
  var kind: Kind
  var values: [Int]
  /// The milliseconds before each value, and before the completion.
  var gaps: [Int]
  /// `nil` for a publisher that does not end by itself.
  var ending: Ending?
}

/// The numbers that configure an operator.
struct Parameters {
  var numbers: [Int]
  subscript(index: Int, below bound: Int) -> Int { numbers[index] % bound }
}

/// One random case of an operator.
struct Case {
  struct Step {
    var time: Int
    var action: Action
  }
  struct Reaction {
    var probe: Int
    /// The number of the event to which this is a reaction; 0 is the subscription.
    var event: Int
    var action: Action
  }
  var parameters: Parameters
  var sources: [SourceSpec]
  /// The first demand of each probe.
  var initial: [Int]
  /// The demand that each probe returns for its values, in turn.
  var answers: [[Int]]
  var script: [Step]
  var reactions: [Reaction]
  /// True if a cancellation reaches the publishers at the scheduler's next opportunity.
  var cancelsLater = false
}

/// The limits of an operator's random cases.
struct Shape {
  /// The number of publishers to which the chain subscribes when it is subscribed to.
  var upstreams = 1
  /// The number of further publishers that it may make from values.
  var inners = 0
  /// The number of subscribers.
  var probes = 1
  var kinds: [SourceSpec.Kind] = [.sync, .timed, .hot]
  /// The publishers that are hot, whatever `kinds` says: those that the chain itself has, such as a subject.
  var hot: Set<Int> = []
  /// The maximum number of values of one publisher.
  var values = 5
  var steps = 8
  /// False to leave out values and completions that are sent within a delivery.
  var sendsWithin = true
  /// False if no subscriber attaches within a delivery.
  var attachesWithin = true
  /// True if a subscriber often reacts to one event with several actions, which a random choice of events rarely does.
  var reactsInBursts = false
  /// True to request everything at the beginning.
  var isUnlimited = false
  /// True if a cancellation reaches the publishers at the scheduler's next opportunity.
  var cancelsLater = false
}

extension Case {
  init(seed: UInt64, _ shape: Shape) {
    var random = Random(seed)
    cancelsLater = shape.cancelsLater
    parameters = Parameters(numbers: (0..<4).map { _ in random.below(1000) })
    var specs: [SourceSpec] = []
    for index in 0..<(shape.upstreams + shape.inners) {
      let kind: SourceSpec.Kind = shape.hot.contains(index) ? .hot : shape.kinds[random.below(shape.kinds.count)]
      let count = kind == .endless ? 1 + random.below(3) : random.below(shape.values + 1)
      let values = (0..<count).map { _ in random.below(8) }
      // Odd milliseconds below 7, so that values never coincide with the case's steps or with the times for which
      // operators wait.
      let gaps = (0...count).map { 20 * random.below(4) + ($0 == 0 ? 2 * (index % 3) + 1 : 0) }
      let draw = random.below(20)
      let ending: Ending? = draw < 3 ? nil : draw < 7 ? .failed(random.below(3)) : .finished
      specs.append(SourceSpec(kind: kind, values: values, gaps: gaps, ending: kind == .endless ? nil : ending))
    }
    sources = specs
    var first: [Int] = []
    var later: [[Int]] = []
    for _ in 0..<shape.probes {
      first.append([Int.max, Int.max, 0, 1, 1, 2, 3][shape.isUnlimited ? 0 : random.below(7)])
      later.append((0..<(1 + random.below(3))).map { _ in [0, 0, 1, 1, 2, 5][random.below(6)] })
    }
    initial = first
    answers = later
    let sent = specs.indices.filter { specs[$0].kind == .hot }
    func action(_ random: inout Random, within: Bool) -> Action {
      let probe = random.below(shape.probes)
      let draw = random.below(20)
      if draw < 12, !sent.isEmpty, !within || shape.sendsWithin {
        let source = sent[random.below(sent.count)]
        guard draw < 2 else { return .send(source: source, random.below(8)) }
        return .end(source: source, random.below(3) == 0 ? .failed(random.below(3)) : .finished)
      }
      if draw >= 19 { return .cancel(probe: probe) }
      if shape.probes > 1, draw >= 16, !within || shape.attachesWithin { return .attach(probe: probe) }
      return .request(probe: probe, [1, 1, 2, 3, 5, Int.max][random.below(6)])
    }
    var steps = [Step(time: 0, action: .attach(probe: 0))]
    var time = 7
    for _ in 0..<random.below(shape.steps + 1) {
      time += 20 * random.below(4)
      steps.append(Step(time: time, action: action(&random, within: false)))
    }
    script = steps
    let (most, events) = shape.reactsInBursts ? (8, 3) : (4, 6)
    reactions = (0..<random.below(most + 1)).map { _ in
      Reaction(probe: random.below(shape.probes), event: random.below(events), action: action(&random, within: true))
    }
  }
}

/// SplitMix64.
struct Random {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x2545_F491_4F6C_DD1D &+ 0x9E37_79B9_7F4A_7C15 }

  mutating func below(_ bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((word ^ (word >> 31)) >> 33) % bound
  }
}

/// Demand as a number; `Int.max` is unlimited.
func sum(_ one: Int, _ other: Int) -> Int {
  one == .max || other == .max ? .max : one + other
}

func product(_ one: Int, _ other: Int) -> Int {
  one == .max || other == .max ? .max : one * other
}

extension Subscribers.Demand {
  init(number: Int) { self = number == .max ? .unlimited : .max(number) }
  var number: Int { max ?? .max }
}

/// The values as one number: an 8, and then each value as a decimal digit.
func digits(_ values: some Sequence<Int>) -> Int { values.reduce(8) { $0 &* 10 &+ $1 } }
