/// What `count`, `collect`, `reduce`, `first`, `last`, `min`, `max`, `contains` and `allSatisfy` share: everything is asked
/// of upstream, one result is delivered once the subscriber has asked for it, and then the stream finishes.
///
/// The rule changes the result with each value and says when it is settled: then upstream is cancelled. A `nil` result
/// finishes without a value.
@usableFromInline
final class ReduceStage<Input, Output, Ending: Publishers.Endings>: LastValueStage<Output, Ending.Failure>, Subscriber {
  @usableFromInline
  typealias Failure = Ending.UpstreamFailure
  @usableFromInline
  typealias Rule = (inout Output?, Input) throws(Ending.RuleError) -> Bool

  private let name: StaticString
  /// Whether the result holds the values themselves.
  private let keepsValues: Bool
  @usableFromInline
  let rule: Rule
  @exclusivity(unchecked)
  @usableFromInline
  var result: Output?
  @exclusivity(unchecked)
  @usableFromInline
  private(set) var isAsked = false
  @exclusivity(unchecked)
  @usableFromInline
  var isAtWork = false

  /// - Parameters:
  ///   - keepsValues: whether a failure that takes the result's place drops the values in it.
  ///   - rule: takes a value into account; returns whether the result is settled.
  @usableFromInline
  init(
    _ name: StaticString, _ down: Downstream<Output, Ending.Failure>, _ initial: Output?, keepsValues: Bool = false,
    _ rule: @escaping Rule
  ) {
    self.name = name
    self.keepsValues = keepsValues
    self.rule = rule
    result = initial
    super.init(down)
  }

  @usableFromInline
  override func began() {
    super.began()
    up?.request(.unlimited)
  }

  @inlinable
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isLive else { return .none }
    precondition(
      !isAtWork, "\(placed(self)): a value arrived while the closure was at work on the one before; send it afterwards")
    isAtWork = true
    // Lent: whoever comes back here meanwhile must not change it.
    var current = result
    result = nil
    defer { isAtWork = false }
    do throws(Ending.RuleError) {
      let isSettled = try rule(&current, input)
      guard isLive else { return .none }
      result = current
      if isSettled { conclude(cancelling: true) }
    } catch {
      stop(.failure(Ending.failure(ofRule: error)))
    }
    return .none
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Failure>) {
    switch completion {
    case .finished: conclude(cancelling: false)
    case .failure(let error):
      if keepsValues, let values = result as? [Input] {
        for value in values { StreamDiagnostics.dropped(value, name, .terminated) }
      }
      finish(.failure(Ending.failure(ofUpstream: error)))
    }
  }

  @inline(never)
  @usableFromInline
  func conclude(cancelling: Bool) {
    let result = self.result
    self.result = nil
    finish(with: result, isAsked: isAsked, cancelling: cancelling)
  }

  /// Everything is asked of upstream already.
  /// What was gathered goes with the cancellation; before the subscription there is none.
  @usableFromInline
  override func cancel() {
    super.cancel()
    if phase == .ended { result = nil }
  }

  @usableFromInline
  override func asked(for demand: Subscribers.Demand) { isAsked = true }

  @usableFromInline
  override var description: String { (Ending.throwsErrors ? "Try" : "") + "\(name)" }
}
