extension Scheduler {
  /// Subscribes the stage of a time operator that uses this scheduler to `upstream`. If the scheduler is a queue, the
  /// stage receives everything in its home, even from a user's publisher that delivers on its own threads.
  @inlinable func subscribe<Upstream: Publisher, S: Subscriber>(_ stage: S, to upstream: Upstream)
  where S.Input == Upstream.Output, S.Failure == Upstream.Failure {
    if StreamHomes.mayCross, let home = homeOfOperator {
      upstream.receive(subscriber: HomeBoundSubscriber(stage, home))
    } else {
      upstream.receive(subscriber: stage)
    }
  }

  @inline(never) @usableFromInline var homeOfOperator: CrossedHome? { (self as? any HomeTime)?.home }
}

/// A scheduler whose timers a queue runs and whose actions run in an operator's home.
protocol HomeTime {
  var home: CrossedHome { get }
}

extension HomeScheduler: HomeTime {}

/// Moves events to the home of a stage whose timers a queue runs.
@usableFromInline final class HomeBoundSubscriber<Base: Subscriber>: Subscriber, CustomStringConvertible {
  @usableFromInline typealias Input = Base.Input
  @usableFromInline typealias Failure = Base.Failure

  private let base: Base
  private let home: CrossedHome
  private let line = EventLine()

  @usableFromInline init(_ base: Base, _ home: CrossedHome) {
    self.base = base
    self.home = home
  }

  @usableFromInline func receive(subscription: any Subscription) {
    base.receive(subscription: subscription)
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand {
    // Without a domain, the stream is over. A user's publisher may still deliver, on its own thread.
    guard let domain = home.domain else { return .none }
    if domain.isHere, line.isEmpty { return base.receive(input) }
    line.pass(to: domain) { [self] in
      let more = base.receive(input)
      // Only the stage holds its upstream, which it releases when it is cancelled.
      if more > .none { (base as? any UpstreamHolder)?.requestOfUpstream(more) }
    }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard let domain = home.domain else { return }
    line.pass(to: domain) { [self] in base.receive(completion: completion) }
  }

  @usableFromInline var description: String { String(describing: base) }
}

/// A subscriber that holds its upstream.
protocol UpstreamHolder {
  func requestOfUpstream(_ demand: Subscribers.Demand)
}

extension Stage: UpstreamHolder {
  func requestOfUpstream(_ demand: Subscribers.Demand) { up?.request(demand) }
}

extension HomeBoundSubscriber: Traceable {
  @usableFromInline var below: Any { base }
}
