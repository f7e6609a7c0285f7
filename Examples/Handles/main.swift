import FeedStream
import Synchronization

/// A sample program for each kind of handle on the loop, each in its own file.
let examples: [String: @MainActor ([String], EventLoop) throws -> AnyCancellable] = [
  "tail": tail, "echo": echo, "chat": chat, "find-process": findProcess, "rebuild": rebuild,
  "json-filter": jsonFilter, "proxy": proxy, "keys": keys, "await": awaiting, "cross": crossing,
]

let arguments = CommandLine.arguments.dropFirst()
guard let name = arguments.first, let example = examples[name] else {
  print(
    "usage: Handles <sample> [argument]…, where the sample is one of \(examples.keys.sorted().joined(separator: ", "))")
  exit(64)
}
let loop = EventLoop()
let running = try example(Array(arguments.dropFirst()), loop)
loop.run()
running.cancel()
loop.close()
exit(status.load(ordering: .relaxed))
