import FeedStream
import FeedStreamTesting

/// Plays a model instead of a chain.
final class Interpreter {
  private enum Event {
    case value(Int, Int)
    case ended(Ending, Int)
    case requested(Int, Int)
    case answered(Int, Int)
  }

  private unowned let run: Run
  private let model: Model
  private var isLive: [Bool]
  private var isBusy = false
  private var waiting: [Event] = []

  init(_ model: Model, _ run: Run) {
    self.model = model
    self.run = run
    isLive = run.scenario.initial.map { _ in false }
  }

  func attach(_ probe: Probe) {
    isLive[probe.index] = true
    perform(at(model).subscribed(probe.index))
  }

  private var isOver: Bool { !model.isShared && !isLive[0] }

  private func at(_ model: Model) -> Model {
    model.now = Int(run.time.now.nanoseconds / 1_000_000)
    return model
  }

  func value(_ value: Int, _ source: Int) { enter(.value(value, source)) }
  func ended(_ ending: Ending, _ source: Int) { enter(.ended(ending, source)) }

  func requested(_ count: Int, _ probe: Int) {
    guard isLive[probe] else { return }
    enter(.requested(count, probe))
  }

  func cancelled(_ probe: Int) {
    guard isLive[probe] else { return }
    isLive[probe] = false
    if isOver {
      stopAll()
      waiting = []
    }
    perform(at(model).cancelled(probe))
  }

  private func enter(_ event: Event) {
    guard !isOver else { return }
    let waits: Bool
    switch (model.order, event) {
    case (.nested, _): waits = false
    case (.upstreamWaits, .requested), (.upstreamWaits, .answered): return perform(effects(of: event))
    case (.upstreamWaits, _), (.allWaits, _): waits = true
    }
    guard waits else { return perform(effects(of: event)) }
    waiting.append(event)
    guard !isBusy else { return }
    serveWaiting()
  }

  private func serveWaiting() {
    isBusy = true
    while !waiting.isEmpty, !isOver { perform(effects(of: waiting.removeFirst())) }
    isBusy = false
  }

  private func effects(of event: Event) -> [Effect] {
    let model = at(model)
    switch event {
    case .value(let value, let source): return model.value(value, source)
    case .ended(let ending, let source): return model.ended(ending, source)
    case .requested(let count, let probe): return model.requested(count, probe)
    case .answered(let count, let probe): return model.answered(count, probe)
    }
  }

  private func stopAll() { for source in run.sources { source.cancel() } }

  private func perform(_ effects: [Effect]) {
    for effect in effects {
      switch effect {
      case .subscribe(let spec): if !isOver { subscribe(to: spec) }
      case .handOut(let probe): run.probes[probe].receive(subscription: ModelSubscription(self, probe))
      case .request(let source, let count): if count > 0, !isOver { run.sources[source].request(count) }
      case .stop(let source): run.sources[source].cancel()
      case .stopAll: stopAll()
      case .emit(let value, let probe):
        guard isLive[probe] else { continue }
        let more = run.probes[probe].receive(value).number
        if more > 0, isLive[probe] { enter(.answered(more, probe)) }
      case .end(let ending, let probe):
        guard isLive[probe] else { continue }
        isLive[probe] = false
        if isOver { stopAll() }
        run.probes[probe].receive(completion: ending.completion)
      case .wait(let span, let token):
        let act: () -> Void = { [self] in
          guard !isOver else { return }
          schedule { $0.due(token) }
        }
        // Work without a time runs at the next opportunity, as in `receive(on:)`.
        if span == 0 {
          run.time.schedule(act)
        } else {
          run.time.schedule(after: run.time.now.advanced(by: .milliseconds(span)), act)
        }
      case .then(let token, let one, let other):
        guard !isOver else { continue }
        perform(at(model).then(token, one, other))
      }
    }
  }

  /// Time does not pass within a delivery, so due work never waits.
  private func schedule(_ react: (Model) -> [Effect]) {
    let outer = isBusy
    isBusy = true
    perform(react(at(model)))
    isBusy = outer
    if !outer, model.order != .nested { serveWaiting() }
  }

  private func subscribe(to spec: Int) {
    let source = run.makeSource(spec)
    let number = run.sources.count - 1
    source.deliver = { [self] in
      value($0, number)
      return 0
    }
    source.end = { [self] in ended($0, number) }
    perform(at(model).began(number))
    source.begin()
  }
}

private final class ModelSubscription: Subscription {
  private let interpreter: Interpreter
  private let probe: Int

  init(_ interpreter: Interpreter, _ probe: Int) {
    self.interpreter = interpreter
    self.probe = probe
  }

  func request(_ demand: Subscribers.Demand) { interpreter.requested(demand.number, probe) }
  func cancel() { interpreter.cancelled(probe) }
}
