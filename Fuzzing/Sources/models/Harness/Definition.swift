import FeedStream
import FeedStreamTesting

/// An operator: the function that makes its chain, and its model.
struct Definition {
  let name: String
  var shape = Shape()
  let model: (Parameters) -> Model
  let build: (Context) -> AnyPublisher<Int, TestError>
}

/// The parts of a chain.
struct Context {
  let run: Run
  var time: VirtualTimeScheduler { run.time }
  var parameters: Parameters { run.scenario.parameters }

  func source(_ spec: Int = 0) -> Upstream { Upstream(run: run, spec: spec) }

  /// Sends the values that are meant for a publisher of the case to a subject of the chain.
  func inlet<S: Subject>(_ spec: Int, _ subject: S) where S.Output == Int, S.Failure == TestError {
    run.inlets[spec] = (send: { subject.send($0) }, end: { subject.send(completion: $0.completion) })
  }
}

extension Parameters {
  /// True for about half of the values.
  func holds(_ value: Int) -> Bool { (value + numbers[3]) % 3 != 0 && (value ^ numbers[2]) & 1 == 0 }
}

/// The events of one case, from the chain and from the model.
struct Outcome {
  var got: [Entry]
  var expected: [Entry]
  var differs: Bool { got != expected }
}

func judge(_ definition: Definition, _ scenario: Case) -> Outcome {
  var got = play(scenario) { run in
    let stream = definition.build(Context(run: run))
    run.attach = { stream.subscribe($0) }
  }
  let expected = play(scenario) { run in
    let interpreter = Interpreter(definition.model(scenario.parameters), run)
    run.attach = { interpreter.attach($0) }
    for spec in definition.shape.hot {
      run.inlets[spec] = (send: { interpreter.value($0, spec) }, end: { interpreter.ended($0, spec) })
    }
  }
  if got.census.alive > 0 {
    got.log.append(Entry(time: 0, who: 0, what: .broken("\(got.census.alive) subscribers or subscriptions are kept")))
  }
  if got.pending > 0 {
    got.log.append(Entry(time: 0, who: 0, what: .broken("\(got.pending) pieces of work are pending")))
  }
  return Outcome(got: got.log, expected: expected.log)
}

private struct Played {
  var log: [Entry]
  let census: Census
  let pending: Int
}

private func play(_ scenario: Case, _ prepare: (Run) -> Void) -> Played {
  let run = Run(scenario)
  prepare(run)
  run.play()
  let pending = run.time.pending.count
  run.close()
  return Played(log: run.log, census: run.census, pending: pending)
}
