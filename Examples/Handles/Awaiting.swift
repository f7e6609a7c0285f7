import Dispatch
import FeedStream
import Foundation

/// Awaits the values of a stream in a task of the main actor, while the loop runs on the main thread.
@MainActor func awaiting(_ arguments: [String], on loop: EventLoop) -> AnyCancellable {
  let words = arguments.publisher.receive(on: loop).values
  let task = Task {
    for await word in words { print(word) }
    print("done")
  }
  return AnyCancellable { task.cancel() }
}

/// Sends values to queues, to the main run loop and to a task; all of them arrive before the loop returns.
@MainActor func crossing(_ arguments: [String], on loop: EventLoop) -> AnyCancellable {
  let words = arguments.publisher
  let (first, second) = (DispatchQueue(label: "first"), DispatchQueue(label: "second"))
  var all: Set<AnyCancellable> = []
  func show<P: Publisher>(_ name: String, _ publisher: P) where P.Output == String, P.Failure == Never {
    publisher.collect().sink { print(name, $0.joined(separator: " ")) }.store(in: &all)
  }
  show("main queue:", words.receive(on: DispatchQueue.main))
  show("concurrent queue:", words.receive(on: DispatchQueue.global()).handleEvents(receiveOutput: { _ in usleep(500) }))
  show("two queues:", words.receive(on: first).handleEvents(receiveOutput: { _ in usleep(500) }).receive(on: second))
  show("delayed on a queue:", words.delay(for: .milliseconds(2), scheduler: first))
  show("main run loop:", words.receive(on: RunLoop.main))
  show("delayed on the run loop:", words.delay(for: .milliseconds(2), scheduler: RunLoop.main))
  let ticks = Timer.publish(every: 0.001, on: .main, in: .common).autoconnect().prefix(2)
  show("timer of the run loop:", ticks.map { _ in "tick" })
  let values = words.values
  let task = Task.detached {
    for await word in values {
      try? await Task.sleep(for: .milliseconds(1))
      print("task:", word)
    }
  }
  return AnyCancellable { [all] in
    for one in all { one.cancel() }
    task.cancel()
  }
}
