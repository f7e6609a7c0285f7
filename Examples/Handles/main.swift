import FeedStream
import Synchronization

/// A sample program for each kind of handle on the loop, each in its own file, with the arguments that it needs.
let examples: [String: (arguments: String, begin: @MainActor ([String], EventLoop) throws -> AnyCancellable)] = [
  "tail": ("<file>", tail), "echo": ("<port>", echo), "chat": ("<port>", chat),
  "find-process": ("<pattern>", findProcess), "rebuild": ("<folder> <command> [argument]…", rebuild),
  "json-filter": ("<level>", jsonFilter), "proxy": ("<port> <target> <bytes per second>", proxy),
  "keys": ("", keys), "await": ("[word]…", awaiting), "cross": ("[word]…", crossing),
]

let arguments = CommandLine.arguments.dropFirst()
guard let name = arguments.first, let example = examples[name] else {
  complain(
    "usage: Handles <sample> [argument]…, where the sample is one of \(examples.keys.sorted().joined(separator: ", "))")
  exit(64)
}
guard arguments.count > example.arguments.count(where: { $0 == "<" }) else {
  complain("usage: Handles \(name) \(example.arguments)")
  exit(64)
}

/// Begins the sample, or prints why it can't: a port may be in use, for example.
@MainActor func begin(on loop: EventLoop) -> AnyCancellable {
  do {
    return try example.begin(Array(arguments.dropFirst()), loop)
  } catch {
    complain("\(error)")
    exit(error is InvalidNumber ? 64 : 1)
  }
}
let loop = EventLoop()
let running = begin(on: loop)
loop.run()
running.cancel()
loop.close()
exit(status.load(ordering: .relaxed))
