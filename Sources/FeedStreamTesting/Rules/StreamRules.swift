import FeedStream

/// Checks an operator against the rules of a stream (`CONTRACT.md`).
///
///     @Test func myOperatorKeepsTheRules() {
///       StreamRules.verify { upstream in upstream.myOperator() }
///     }
///
/// The operator is run in many ways:
///
/// - with each kind of source: one that delivers immediately, one that delivers at scheduled times, and a subject; each
///   finishes or fails after zero to three values (up to four for demands of three);
/// - under each kind of demand: nothing at first, one at a time, 1 or 2 and later the rest, 3 then 2, 1 then unlimited,
///   unlimited;
/// - cancelled at every point;
/// - with simultaneous events in different orders, determined by seeds;
/// - with sources that break the rules.
///
/// The output is compared with `expects`, as a ``Recorder`` compares its values with a diagram, or with the output
/// under unlimited demand. In the second case, values that aren't `Equatable` only need to have the same description,
/// because each run makes its own objects. The shortest script that breaks a rule fails the test, with the rule's
/// number.
///
/// Four mistakes aren't found. Test these cases yourself, with a ``DemandScript``:
///
/// - a request that replaces earlier demand, instead of adding to it, while both are unused (rule 3);
/// - a completion that waits for demand (rule 5);
/// - an operator that delivers only a completion, if there is no `expects`;
/// - an operator that delivers a failure as `finished`, if there is no `expects`.
public enum StreamRules {
  /// Ways in which an operator differs from a plain one.
  public struct Traits: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The output depends on the time of the requests: the operator samples or collects by time, as documented. With
    /// less than unlimited demand, the values are then not compared, and the completion only has to arrive.
    public static let dependsOnDemand = Traits(rawValue: 1 << 0)
    /// The operator stays subscribed to upstream when its subscriber cancels, or when an operator after it completes
    /// early, because other subscribers share upstream.
    public static let sharesUpstream = Traits(rawValue: 1 << 1)
    /// The operator does not deliver thousands of values, so the stack is not measured.
    public static let isShort = Traits(rawValue: 1 << 2)
    /// The operator has no buffer: events that a source sends in violation of the rules pass through. Such sources are
    /// tried, but the results are not checked.
    public static let passesStrays = Traits(rawValue: 1 << 3)
    /// A failure overtakes values that wait for demand, as documented. Values that are missing before a failure are
    /// then accepted.
    public static let failsAtOnce = Traits(rawValue: 1 << 4)
    /// The operator drops values that were not requested when they arrived, as documented. With less than unlimited
    /// demand, it may then leave out values, but must keep their order.
    public static let dropsUnasked = Traits(rawValue: 1 << 5)
    /// Dropped values use up demand, as documented: the operator may need more demand to continue.
    public static let spendsDemand = Traits(rawValue: 1 << 8)
    /// The operator never completes, so time is advanced only a few times.
    public static let isEndless = Traits(rawValue: 1 << 7)
  }

  /// A summary of the check.
  public struct Summary: Sendable {
    /// The number of scripts that have run.
    public var scripts = 0
    /// The rule that was broken, if any.
    public var broken: StreamRule?
  }

  /// The kinds of misbehavior that an operator with state must survive.
  public static let usualMisbehaviors: Set<Misbehavior> = [
    .emitsAfterEnding, .completesTwice, .ignoresCancel, .subscribesTwice,
  ]

  /// Checks an operator, and fails the test with the shortest script that breaks a rule.
  ///
  /// - Parameters:
  ///   - name: the operator's name for the message.
  ///   - traits: the ways in which the operator differs from a plain one.
  ///   - survives: kinds of source misbehavior from which the operator protects its subscriber.
  ///   - expects: returns the expected result for the given values, without using the operator.
  ///   - build: applies the operator.
  /// - Returns: a summary of the check.
  @discardableResult public static func verify<P: Publisher>(
    _ name: String = "The operator", traits: Traits = [], survives: Set<Misbehavior> = usualMisbehaviors,
    expects: ((Given) -> Due<P.Output>)? = nil,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ build: @escaping (AnyPublisher<Int, MarbleFailure>) -> P
  ) -> Summary {
    verify(
      name, traits: traits, survives: survives, expects: expects, fileID: fileID, filePath: filePath, line: line,
      column: column
    ) { upstream, _ in build(upstream) }
  }

  /// Checks an operator that uses time: `build` also receives the scheduler.
  @discardableResult public static func verify<P: Publisher>(
    _ name: String = "The operator", traits: Traits = [], survives: Set<Misbehavior> = usualMisbehaviors,
    expects: ((Given) -> Due<P.Output>)? = nil,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ build: @escaping (AnyPublisher<Int, MarbleFailure>, VirtualTimeScheduler) -> P
  ) -> Summary {
    var search = RuleSearch(
      run: RuleRun(build: build, traits: traits), traits: traits, expects: expects)
    if let found = search.shortestBreach(survives: survives) {
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column).fail("\(name) \(found)")
    }
    return search.summary
  }

  /// Checks the operator that `build` applies, using one script per seed. The seed also determines the order of events.
  @discardableResult package static func verify<P: Publisher>(
    _ name: String, traits: Traits, seeds: Range<UInt64>, fileID: StaticString, filePath: StaticString, line: UInt,
    column: UInt, _ build: @escaping (AnyPublisher<Int, MarbleFailure>, VirtualTimeScheduler) -> P
  ) -> Summary {
    var search = RuleSearch(run: RuleRun(build: build, traits: traits), traits: traits, expects: nil)
    if let found = search.breach(seeds: seeds) {
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column).fail("\(name) \(found)")
    }
    return search.summary
  }
}
