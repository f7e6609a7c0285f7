import FeedStream

/// One way to use an operator: the kind of source, the demand, and the cancellation.
struct RuleScript: CustomStringConvertible {
  enum Source: Hashable {
    /// Delivers values in the call that requests them.
    case synchronous
    /// Delivers at its own times, and drops values that were not requested.
    case subject
    /// Delivers at its own times, and waits for demand.
    case scheduled
    case misbehaving(Misbehavior)
  }

  enum Cancellation: Equatable {
    case never
    /// Cancels in the callback with this number; 0 is the subscription.
    case within(callback: Int)
    /// Cancels from outside, after time has been advanced this many times.
    case after(steps: Int)
  }

  struct Demand {
    let script: DemandScript
    /// True to call `request` after a value instead of returning demand.
    var byRequest = false
    /// The request to make when no work is left.
    var late: Subscribers.Demand = .none

    /// True if everything has been requested by the end.
    var isComplete: Bool {
      late == .unlimited || script.initial == .unlimited || (script.answers.last ?? .none) > .none
    }

    var isUnlimited: Bool { script.initial == .unlimited }

    static let late = Demand(script: DemandScript("none, then unlimited at the end", initial: .none), late: .unlimited)

    static let all = [
      Demand(script: .unlimited),
      Demand(script: .oneByOne),
      Demand(script: DemandScript("one at a time, by request", initial: .max(1), answers: [.max(1)]), byRequest: true),
      late,
      Demand(script: DemandScript("1, then unlimited at the end", initial: .max(1)), late: .unlimited),
      Demand(script: DemandScript("2, then unlimited at the end", initial: .max(2)), late: .unlimited),
      Demand(script: DemandScript("3, then 2", initial: .max(3), answers: [.none, .none, .max(2), .none])),
      Demand(script: DemandScript("1, then unlimited", initial: .max(1), answers: [.unlimited])),
    ]
  }

  let source: Source
  let count: Int
  let fails: Bool
  let demand: Demand
  var cancellation = Cancellation.never
  /// The order of events that are due at the same instant.
  var order = VirtualTimeScheduler.Order.scheduled

  /// The values from upstream.
  var values: [Int] { Array(0..<count) }

  var description: String {
    let kind =
      switch source {
      case .synchronous: count == 0 ? "a source that completes immediately" : "a synchronous source"
      case .subject: "a subject"
      case .scheduled: "a scheduled source"
      case .misbehaving(let misbehavior): "a source that \(misbehavior)"
      }
    let cancel =
      switch cancellation {
      case .never: "never cancelled"
      case .within(callback: 0): "cancelled on subscription"
      case .within(let callback): "cancelled within event \(callback)"
      case .after(let steps): "cancelled after \(steps) \(steps == 1 ? "step" : "steps") in time"
      }
    let seed = order.seed.map { "; order: .seeded(\($0))" } ?? ""
    return
      "\(kind), \(count) \(count == 1 ? "value" : "values"), then it \(fails ? "fails" : "finishes"); "
      + "demand: \(demand.script); \(cancel)\(seed)"
  }

  /// All scripts without cancellation in which a correct source sends `count` values. Scripts that differ only in
  /// demand follow one another, with unlimited demand first.
  static func plain(count: Int) -> [RuleScript] {
    [false, true].flatMap { fails in
      [Source.synchronous, .scheduled, .subject].flatMap { source in
        demands(count: count).map { RuleScript(source: source, count: count, fails: fails, demand: $0) }
      }
    }
  }

  /// The demands to try. For four values, only unlimited demand and demands of three can show anything new.
  private static func demands(count: Int) -> [Demand] {
    count < 4 ? Demand.all : Demand.all.filter { $0.isUnlimited || $0.script.initial == .max(3) }
  }

  /// Scripts that shuffle the events that are due at the same instant: those of a scheduled source, and the work that
  /// the operator schedules. Each number of values has its own seeds.
  static func shuffled(count: Int) -> [RuleScript] {
    (2 * UInt64(count)...2 * UInt64(count) + 1).flatMap { seed in
      [false, true].flatMap { fails in
        demands(count: count).map {
          RuleScript(source: .scheduled, count: count, fails: fails, demand: $0, order: .seeded(seed))
        }
      }
    }
  }

  /// The script for a seed.
  static func seeded(_ seed: UInt64) -> RuleScript {
    var generator = SeededGenerator(seed: seed)
    let count = Int.random(in: 0...8, using: &generator)
    return RuleScript(
      source: [Source.synchronous, .subject, .scheduled].randomElement(using: &generator)!, count: count,
      fails: Bool.random(using: &generator), demand: Demand.all.randomElement(using: &generator)!, order: .seeded(seed))
  }

  /// Scripts with a source that breaks the rules, some of them while values wait to be requested.
  static func misbehaving(_ misbehaviors: Set<Misbehavior>) -> [RuleScript] {
    Misbehavior.allCases.filter(misbehaviors.contains).flatMap { misbehavior in
      [1, 3].flatMap { count in
        (Demand.all.prefix(2) + [.late]).flatMap { demand in
          ([.never] + (0...2).map { Cancellation.within(callback: $0) }).map {
            RuleScript(
              source: .misbehaving(misbehavior), count: count, fails: false, demand: demand, cancellation: $0)
          }
        }
      }
    }
  }
}
