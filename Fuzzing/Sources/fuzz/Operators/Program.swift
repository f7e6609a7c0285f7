import FeedStream
import FeedStreamTesting
import Glibc

/// Reads a program of operators from the bytes, runs it with demand, cancellation and re-entrancy from the bytes, too,
/// and checks the events against the rules of `CONTRACT.md`:
///
/// - one subscription, never more values than requested, one completion, nothing after a cancellation (``Watcher``);
/// - no request for zero values reaches a source, but a cancellation does;
/// - everything is released: no subscription, no subscriber and no work is left;
/// - nothing is lost or stuck: a program that does not depend on demand delivers the same values, however they are
///   requested, and completes when its sources have.
func fuzzOperators(_ input: UnsafeBufferPointer<UInt8>) -> Int32 {
  guard input.count >= 4 else { return -1 }
  isTelling = isTelling || getenv("FUZZ_TELL") != nil
  // The first byte determines how many of the other bytes are the program.
  let split = 1 + Int(input[0]) % (input.count - 1)
  let program = Tape(input[1..<split])
  let run = perform(program, Tape(input[split...]), isQuiet: false)
  guard run.isComplete, run.isComparable else { return 0 }
  let whole = perform(program, Tape(input[..<0]), isQuiet: true)
  guard whole.isComplete, run.values == whole.values, run.hasFailed == whole.hasFailed else {
    run.world.broken(
      8, "\(run.values), failed: \(run.hasFailed); at once it was \(whole.values), failed: \(whole.hasFailed)")
  }
  return 0
}

/// The result of a run.
private struct Outcome {
  let world: World
  /// True if everything was requested, and the stream completed by itself.
  let isComplete: Bool
  let isComparable: Bool
  let values: [Int]
  let hasFailed: Bool
}

private let stepLimit = 64

private func perform(_ program: Tape, _ actions: Tape, isQuiet: Bool) -> Outcome {
  let world = World(actions, isQuiet: isQuiet)
  var result: Outcome?
  weak var leaked: Watcher?
  do {
    let watcher = Watcher(world)
    leaked = watcher
    var program = program
    build(&program, world).subscribe(watcher)
    let byItself = drive(watcher, world)
    let isComplete = byItself && watcher.ending != nil && watcher.values.count < Watcher.patience
    let isComparable =
      !world.traits.contains(.dependsOnDemand)
      && !(world.traits.contains(.failsAtOnce) && world.traits.contains(.mayFail))
    var hasFailed = false
    if case .failure = watcher.ending { hasFailed = true }
    result = Outcome(
      world: world, isComplete: isComplete, isComparable: isComparable, values: watcher.values, hasFailed: hasFailed)
    finish(watcher, world)
  }
  world.subjects = []
  if leaked != nil { world.broken(9, "the subscriber is still retained") }
  if world.existing != 0 { world.broken(9, "\(world.existing) subscriptions or resources are still there") }
  return result!
}

/// Builds a source with a chain of up to six operators.
private func build(_ tape: inout Tape, _ world: World) -> Upstream {
  var stream = source(&tape, world)
  for _ in 0..<6 where !tape.isEmpty {
    let step = catalogue[tape.below(catalogue.count)]
    world.names.append(step.name)
    world.traits.formUnion(step.traits)
    stream = step.apply(stream, &tape, world)
  }
  return stream
}

/// - Returns: true if the stream was left to complete by itself.
private func drive(_ watcher: Watcher, _ world: World) -> Bool {
  for _ in 0..<stepLimit {
    if !world.isQuiet { world.poke(.outside) }
    checkCancelled(watcher, world)
    guard world.time.advanceToNextWork(), !watcher.isOver else { break }
  }
  checkCancelled(watcher, world)
  guard !watcher.isCancelled else { return false }
  guard watcher.ending == nil else { return true }
  // Request everything, and complete the subjects, which wait for the run.
  for subject in world.subjects { subject.end(.finished) }
  watcher.ask(.unlimited)
  var steps = 0
  while steps < stepLimit, !watcher.isOver, world.time.advanceToNextWork() { steps += 1 }
  guard steps < stepLimit, !watcher.isOver, !world.traits.contains(.mayStayOpen) else { return !watcher.isCancelled }
  world.broken(8, "everything was asked for, nothing is left to happen, and the stream has not ended")
}

private func checkCancelled(_ watcher: Watcher, _ world: World) {
  guard watcher.isCancelled, world.live > 0, !world.traits.contains(.cancelsLate) else { return }
  world.broken(6, "\(world.live) sources were not cancelled")
}

/// Cancels the remaining subscriptions, and lets time pass until nothing happens anymore.
private func finish(_ watcher: Watcher, _ world: World) {
  watcher.cancel()
  checkCancelled(watcher, world)
  for _ in 0..<stepLimit { guard world.time.advanceToNextWork() else { break } }
  if world.live > 0 { world.broken(9, "\(world.live) sources live on") }
  if !world.time.pending.isEmpty { world.broken(9, "work is still being scheduled: \(world.time.pending)") }
}
