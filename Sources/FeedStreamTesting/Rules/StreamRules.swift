import FeedStream

/// Runs an operator through the rules of a stream (`CONTRACT.md`).
///
///     @Test func myOperatorKeepsTheRules() {
///       StreamRules.verify { upstream in upstream.myOperator() }
///     }
///
/// The operator is run with each kind of source (one that delivers at once, one that waits for its time, a subject;
/// each finishing and failing, after none to three values, or four where demand comes in threes), under each kind of demand (nothing at first, one at a time,
/// 1 or 2 and later the rest, 3 then 2, 1 then unlimited, unlimited), and cancelled at every point; with what is due at one instant in other orders, that seeds determine; then with
/// sources that break the rules. What it delivers is compared with what `expects` states, and with what it delivers
/// under unlimited demand. The shortest script that breaks a rule fails the test, with the rule's number.
public enum StreamRules {
  /// What an operator does that a plain one does not.
  public struct Traits: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// What is delivered depends on when it is asked for: it samples or collects by time, as documented. Deliveries under
    /// less than unlimited demand are then compared neither with others nor with the expectation, but for the ending.
    public static let dependsOnDemand = Traits(rawValue: 1 << 0)
    /// It keeps its upstream when its subscriber cancels, because others share it.
    public static let sharesUpstream = Traits(rawValue: 1 << 1)
    /// It does not deliver thousands of values: the stack is not measured.
    public static let isShort = Traits(rawValue: 1 << 2)
    /// It keeps nothing back: what a source sends against the rules passes through it. Such sources are tried, but what
    /// comes of them is not judged.
    public static let passesStrays = Traits(rawValue: 1 << 3)
    /// A failure overtakes the values that wait for demand, as documented. Deliveries before a failure are then not
    /// compared under different demand.
    public static let failsAtOnce = Traits(rawValue: 1 << 4)
    /// It drops what was not asked for when it arrived, as documented. Under less than unlimited demand the rest is then
    /// delivered, in order.
    public static let dropsUnasked = Traits(rawValue: 1 << 5)
    /// Work that it has given to the scheduler, and that a scheduler cannot take back, is left over when it is cancelled,
    /// without effect.
    public static let leavesWork = Traits(rawValue: 1 << 6)
    /// What it drops counts as delivered, as documented: it may need more demand to go on.
    public static let spendsDemand = Traits(rawValue: 1 << 8)
    /// It never ends by itself: time is moved a few times only.
    public static let isEndless = Traits(rawValue: 1 << 7)
  }

  /// What was checked.
  public struct Summary: Sendable {
    /// How many scripts were run.
    public var scripts = 0
    /// The rule that was broken, if one was.
    public var broken: StreamRule?
  }

  /// The misbehaviours that an operator with any state of its own survives.
  public static let usualMisbehaviours: Set<Misbehaviour> = [
    .emitsAfterEnding, .completesTwice, .ignoresCancel, .subscribesTwice,
  ]

  /// Runs `build` through the rules and fails the test with the shortest script that breaks one.
  ///
  /// - Parameters:
  ///   - name: names the operator in the message.
  ///   - traits: what the operator does that a plain one does not.
  ///   - survives: the misbehaviours of a source from which the operator protects its subscriber.
  ///   - expects: what the operator must deliver of what it was given, stated apart from the operator.
  ///   - build: applies the operator.
  /// - Returns: what was checked.
  @discardableResult public static func verify<P: Publisher>(
    _ name: String = "The operator", traits: Traits = [], survives: Set<Misbehaviour> = usualMisbehaviours,
    expects: ((Given) -> Due<P.Output>)? = nil,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ build: @escaping (AnyPublisher<Int, MarbleFailure>) -> P
  ) -> Summary {
    verify(
      name, traits: traits, survives: survives, expects: expects, fileID: fileID, filePath: filePath, line: line,
      column: column
    ) { upstream, _ in build(upstream) }
  }

  /// Runs `build` through the rules; for an operator that uses time.
  @discardableResult public static func verify<P: Publisher>(
    _ name: String = "The operator", traits: Traits = [], survives: Set<Misbehaviour> = usualMisbehaviours,
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
}
