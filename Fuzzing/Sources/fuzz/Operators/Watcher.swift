import FeedStream
import FeedStreamTesting

/// The subscriber of a run: requests values as the tape says, and checks the events against the rules of `CONTRACT.md`.
final class Watcher: Subscriber {
  /// The number of values after which the watcher cancels a stream.
  static let patience = 200

  private let world: World
  private var subscription: (any Subscription)?
  private var outstanding = Subscribers.Demand.none
  private var hasSubscription = false
  private(set) var isCancelled = false
  private(set) var ending: Subscribers.Completion<MarbleFailure>?
  private(set) var values: [Int] = []
  private let first: Subscribers.Demand

  init(_ world: World) {
    self.world = world
    first = world.isQuiet ? .unlimited : world.tape.below(4) == 0 ? .none : world.tape.demand()
    world.watcher = self
  }

  var isOver: Bool { ending != nil || isCancelled }

  func ask(_ demand: Subscribers.Demand) {
    // A request after the completion must have no effect; this is tested, too, while the subscription is retained.
    guard let subscription else { return }
    world.note("ask for \(demand)")
    outstanding += demand
    subscription.request(demand)
  }

  func cancel() {
    guard let subscription, !isCancelled else { return }
    world.note("cancel")
    isCancelled = true
    self.subscription = nil
    subscription.cancel()
    subscription.cancel()
    subscription.request(.max(1))
  }

  func receive(subscription: any Subscription) {
    guard !hasSubscription else { world.broken(2, "a second subscription") }
    hasSubscription = true
    world.note("subscribed")
    self.subscription = subscription
    if first > .none { ask(first) }
    world.poke(.subscriber)
  }

  func receive(_ input: Int) -> Subscribers.Demand {
    check("the value \(input)")
    world.note("receive \(input)")
    guard outstanding > .none else { world.broken(4, "\(input) was delivered without being asked for") }
    outstanding -= 1
    values.append(input)
    // Cancel a stream that may be endless.
    guard values.count < Watcher.patience else {
      cancel()
      return .none
    }
    world.poke(.subscriber)
    guard !world.isQuiet, !isOver else { return .none }
    let answer: Subscribers.Demand = world.tape.below(3) > 0 ? .none : world.tape.demand()
    outstanding += answer
    if answer > .none { world.note("answer \(answer)") }
    return answer
  }

  func receive(completion: Subscribers.Completion<MarbleFailure>) {
    check("the ending \(completion)")
    world.note("\(completion)")
    ending = completion
    let subscription = self.subscription
    self.subscription = nil
    world.poke(.subscriber)
    // A subscriber may notice the completion late: neither call may have an effect.
    subscription?.request(.max(1))
    subscription?.cancel()
  }

  private func check(_ what: @autoclosure () -> String) {
    guard hasSubscription else { world.broken(2, "\(what()) came before the subscription") }
    guard ending == nil else { world.broken(5, "\(what()) came after the ending") }
    guard !isCancelled else { world.broken(6, "\(what()) came after cancel() had returned") }
  }
}
