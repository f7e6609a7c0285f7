import FeedStream

/// A subscriber of the case: requests values and reacts as the case says, and records the events.
final class Probe: Subscriber {
  typealias Input = Int
  typealias Failure = TestError

  private unowned let run: Run
  private let census: Census
  let index: Int
  var isAttached = false
  private var subscription: (any Subscription)?
  private var outstanding = 0
  private var events = 0
  private var values = 0
  private(set) var isOver = false

  init(_ index: Int, _ run: Run) {
    self.index = index
    self.run = run
    census = run.census
    census.alive += 1
  }

  deinit { census.alive -= 1 }

  func request(_ count: Int) {
    guard let subscription else { return }
    outstanding = sum(outstanding, count)
    subscription.request(Subscribers.Demand(number: count))
  }

  func cancel() {
    guard let subscription, !isOver else { return }
    isOver = true
    subscription.cancel()
    // Neither a second cancellation nor a request may have an effect.
    subscription.cancel()
    subscription.request(.max(1))
    self.subscription = nil
  }

  func receive(subscription: any Subscription) {
    if self.subscription != nil || isOver { note(.broken("a second subscription")) }
    note(.subscribed)
    self.subscription = subscription
    let first = run.scenario.initial[index]
    if first > 0 { request(first) }
    react()
  }

  func receive(_ value: Int) -> Subscribers.Demand {
    if outstanding == 0 { note(.broken("a value that was not asked for")) }
    if outstanding != .max { outstanding -= 1 }
    note(.value(value))
    let answers = run.scenario.answers[index]
    let answer = answers[values % answers.count]
    values += 1
    outstanding = sum(outstanding, answer)
    guard run.hasPatience() else {
      cancel()
      return .none
    }
    react()
    return Subscribers.Demand(number: answer)
  }

  func receive(completion: Subscribers.Completion<TestError>) {
    switch Ending(completion) {
    case .finished: note(.finished)
    case .failed(let code): note(.failed(code))
    }
    isOver = true
    let subscription = self.subscription
    react()
    subscription?.request(.max(1))
    subscription?.cancel()
    self.subscription = nil
  }

  private func note(_ what: What) {
    if isOver { run.note(index, .broken("an event after the end")) }
    run.note(index, what)
  }

  private func react() {
    let event = events
    events += 1
    for reaction in run.scenario.reactions where reaction.probe == index && reaction.event == event {
      run.act(reaction.action)
    }
  }

  func release() { subscription = nil }
}
