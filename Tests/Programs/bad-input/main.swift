// An invalid count, which release builds name, too.
// Traps: collect(0)
import FeedStream

let arrays = (0..<5).publisher.collect(Int(CommandLine.arguments.count) - 1).sink { print($0) }
print("went on")
