import CFuzzer
import Glibc

// fuzz <target> [libFuzzer's options] [folders and files of inputs]
// Run it with Scripts/fuzz.

let targets: [String: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32] = [
  "mapper": { fuzzMapper(bytes($0, $1)) },
  "duration": { fuzzDuration(bytes($0, $1)) },
  "marbles": { fuzzMarbles(bytes($0, $1)) },
  "rss": { fuzzFeed(bytes($0, $1)) },
  "atom": { fuzzFeed(bytes($0, $1)) },
  "jsonfeed": { fuzzFeed(bytes($0, $1)) },
  "casestudy": { fuzzCaseStudy(bytes($0, $1)) },
  "plaintext": { fuzzPlainText(bytes($0, $1)) },
  "redis": { fuzzRedis(bytes($0, $1)) },
  "requests": { fuzzRequests(bytes($0, $1)) },
  "operators": { fuzzOperators(bytes($0, $1)) },
]

func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> UnsafeBufferPointer<UInt8> {
  UnsafeBufferPointer(start: start, count: count)
}

/// Prints the message and ends the process, which libFuzzer reports as a finding.
func finding(_ message: @autoclosure () -> String) -> Never {
  let text = "FOUND: \(message())\n"
  text.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
  abort()
}

guard CommandLine.arguments.count > 1, let target = targets[CommandLine.arguments[1]] else {
  print("usage: fuzz \(targets.keys.sorted().joined(separator: "|")) [libFuzzer's options] [inputs]")
  exit(64)
}
// libFuzzer expects the program's name first, and no target's name.
var arguments = CommandLine.unsafeArgv.advanced(by: 1).withMemoryRebound(
  to: UnsafeMutablePointer<CChar>?.self, capacity: Int(CommandLine.argc)
) { Optional($0) }
arguments?[0] = CommandLine.unsafeArgv[0]
var count = CommandLine.argc - 1
exit(LLVMFuzzerRunDriver(&count, &arguments, target))
