import FeedStream
import FeedStreamTesting
import Testing

typealias Upstream = AnyPublisher<Int, MarbleFailure>

/// An operator, as the rule suite runs it.
struct RuleRow: Sendable, CustomTestStringConvertible {
  /// The operator's file, below `Sources/FeedStream`, without its extension.
  let file: String
  /// The row's name, which contains the names of the functions that it covers, such as `zip(_:_:)`.
  let name: String
  let traits: StreamRules.Traits
  /// True when the row states the expected values independently of the operator.
  let hasExpectation: Bool
  let verify: @Sendable () -> StreamRules.Summary
  /// Checks the rules in the orders that seeds choose.
  let verifyOrders: @Sendable (Range<UInt64>) -> StreamRules.Summary
  /// Subscribes to the operator on an upstream, without a request.
  let subscribe: @Sendable (Upstream, VirtualTimeScheduler) -> SubscriptionKeeper

  var testDescription: String { name }

  /// - Parameters:
  ///   - traits: the operator's special behavior.
  ///   - survives: the violations from which it protects its subscriber; by default, all except those for which it
  ///     traps on purpose.
  ///   - expects: returns the expected values for the given ones.
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

/// Retains the subscription that an operator delivers.
final class SubscriptionKeeper {
  var subscription: (any Subscription)?
}

/// Builds a list of rows, each type-checked separately: a single array would take the compiler too long.
@resultBuilder enum RuleRows {
  static func buildBlock(_ rows: RuleRow...) -> [RuleRow] { rows }
}

func rows(@RuleRows _ rows: () -> [RuleRow]) -> [RuleRow] { rows() }
