// Sends SET commands with FeedRedis, up to <depth> in flight, each as a publisher that is subscribed to: see
// Benchmarks/redis.
//
//   redis-commands <socket> <commands> <depth>   prints its processor time in microseconds a command
import FeedRedis
import FeedStream
import Foundation

let words = CommandLine.arguments
guard words.count == 4, let commands = Int(words[2]), let depth = Int(words[3]) else {
  fatalError("usage: redis-commands <socket> <commands> <depth>")
}

func used() -> Double {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  func microseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
  return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
}

final class Commands {
  let client: RedisClient
  var left: Int
  var waiting = 0
  var running: [AnyCancellable?]

  init(_ client: RedisClient, _ commands: Int, depth: Int) {
    self.client = client
    left = commands
    running = Array(repeating: nil, count: depth)
  }

  func next(in place: Int) {
    left -= 1
    waiting += 1
    running[place] = client.send(RedisCommand("SET", "greeting", RedisArgument(left))).sink { [unowned self] in
      if case .failure(let error) = $0 { fatalError("\(error)") }
      waiting -= 1
      if left > 0 { next(in: place) } else if waiting == 0 { client.close() }
    } receiveValue: {
      precondition($0 == .status("OK"))
    }
  }
}

let loop = EventLoop()
let all = Commands(RedisClient(RedisAddress(.unix(path: words[1])), on: loop), commands, depth: depth)
let before = used()
for place in 0..<min(depth, commands) { all.next(in: place) }
loop.run()
print(String(format: "%.3f", (used() - before) / Double(commands)))
