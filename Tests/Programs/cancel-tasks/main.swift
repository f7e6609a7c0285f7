import Dispatch
import FeedStream

// Tasks that iterate a subject's values without a loop, cancelled from a queue while the subject sends.
// Expects: 400 tasks ended

@MainActor func run() async {
  let subject = CurrentValueSubject<String, Never>("the first text")
  var ended = 0
  for _ in 0..<50 {
    let tasks = (0..<8).map { _ in Task { for await _ in subject.values {} } }
    for _ in 0..<4 { await Task.yield() }
    DispatchQueue.global().async { for task in tasks { task.cancel() } }
    for number in 0..<100 { subject.send("the text number \(number)") }
    for task in tasks {
      await task.value
      ended += 1
    }
  }
  print("\(ended) tasks ended")
}

await run()
