import FeedStream
import FeedStreamTesting
import Testing

typealias Upstream = AnyPublisher<Int, MarbleFailure>

/// An operator, as the rule suite runs it.
struct RuleRow: Sendable, CustomTestStringConvertible {
  /// The file that holds it, under `Sources/FeedStream`, without its ending.
  let file: String
  /// Contains the names of the functions it covers, as `zip(_:_:)`.
  let name: String
  let traits: StreamRules.Traits
  /// True when it states what must be delivered, apart from the operator.
  let hasExpectation: Bool
  let verify: @Sendable () -> StreamRules.Summary
  /// The same in the orders that seeds choose.
  let verifyOrders: @Sendable (Range<UInt64>) -> StreamRules.Summary
  /// Subscribes to the operator over an upstream, and asks for nothing.
  let subscribe: @Sendable (Upstream, VirtualTimeScheduler) -> SubscriptionKeeper

  var testDescription: String { name }

  /// - Parameters:
  ///   - traits: what the operator does that a plain one does not.
  ///   - survives: what it protects its subscriber from; by default everything, except what makes it trap on purpose.
  ///   - expects: what must be delivered of what was given.
  init<P: Publisher & SendableMetatype>(
    _ file: String, _ name: String, _ traits: StreamRules.Traits = [],
    survives: Set<Misbehavior> = StreamRules.usualMisbehaviors,
    expects: (@Sendable (Given) -> Due<P.Output>)? = nil, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ build: @escaping @Sendable (Upstream) -> P
  ) {
    self.init(
      file, name, timed: traits, survives: survives, expects: expects, fileID: fileID, filePath: filePath, line: line,
      column: column
    ) { upstream, _ in build(upstream) }
  }

  /// For an operator that uses time.
  init<P: Publisher & SendableMetatype>(
    _ file: String, _ name: String, timed traits: StreamRules.Traits,
    survives: Set<Misbehavior> = StreamRules.usualMisbehaviors,
    expects: (@Sendable (Given) -> Due<P.Output>)? = nil, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ build: @escaping @Sendable (Upstream, VirtualTimeScheduler) -> P
  ) {
    self.file = file
    self.name = name
    self.traits = traits
    hasExpectation = expects != nil
    verify = {
      StreamRules.verify(
        name, traits: traits, survives: survives, expects: expects, fileID: fileID, filePath: filePath, line: line,
        column: column, build)
    }
    verifyOrders = { seeds in
      StreamRules.verify(
        name, traits: traits, seeds: seeds, fileID: fileID, filePath: filePath, line: line, column: column, build)
    }
    subscribe = { upstream, time in
      let keeper = SubscriptionKeeper()
      build(upstream, time).subscribe(
        AnySubscriber<P.Output, P.Failure>(receiveSubscription: { keeper.subscription = $0 }))
      return keeper
    }
  }
}

/// Holds the subscription that an operator hands down.
final class SubscriptionKeeper {
  var subscription: (any Subscription)?
}

/// Rows in a list, each checked for its types alone: as one array they would take the compiler too long.
@resultBuilder enum RuleRows {
  static func buildBlock(_ rows: RuleRow...) -> [RuleRow] { rows }
}

func rows(@RuleRows _ rows: () -> [RuleRow]) -> [RuleRow] { rows() }
