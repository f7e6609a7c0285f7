import AsyncAlgorithms
import CIO
import FeedStream
import Foundation
import Harness

/// Like the counters in C, without checks for exclusive access.
final class Counters {
  @exclusivity(unchecked) var lines = 0
  @exclusivity(unchecked) var bytes = 0
}

func countLines(_ path: String) -> (lines: Int, bytes: Int) {
  let loop = EventLoop()
  let counters = Counters()
  let counting = File(path).bytes(on: loop).split(by: 10).sink { _ in
  } receiveValue: {
    counters.lines += 1
    counters.bytes += $0.count
  }
  loop.run()
  counting.cancel()
  loop.close()
  return (counters.lines, counters.bytes)
}

func countTexts(_ path: String) -> Int {
  let loop = EventLoop()
  var lines = 0
  let counting = File(path).bytes(on: loop).lines().count().sink { _ in
  } receiveValue: {
    lines = $0
  }
  loop.run()
  counting.cancel()
  loop.close()
  return lines
}

/// A file read by an `AsyncSequence` of its bytes: swift-async-algorithms' buffer over the system's `read`.
struct AsyncBytes: AsyncSequence {
  let descriptor: Int32

  func makeAsyncIterator() -> AsyncBufferedByteIterator {
    AsyncBufferedByteIterator(capacity: 256 * 1024) { [descriptor] in read(descriptor, $0.baseAddress, $0.count) }
  }
}

func countAsynchronously(_ path: String) -> Int {
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var lines = 0
  Task.detached {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    for try await byte in AsyncBytes(descriptor: descriptor) where byte == 10 { lines += 1 }
    done.signal()
  }
  done.wait()
  return lines
}

/// A file read by a `FileHandle`, its lines as slices of `Data`; a line that is split between two reads is counted
/// twice.
func countWithFileHandle(_ path: String) -> Int {
  let file = FileHandle(forReadingAtPath: path)!
  var lines = 0
  while let data = try? file.read(upToCount: 256 * 1024), !data.isEmpty { lines += data.split(separator: 10).count }
  return lines
}

func lineRows(_ isShort: Bool, rounds: Int) throws {
  let path = FileManager.default.temporaryDirectory.appending(path: "feedstream-lines-\(getpid())").path
  defer { unlink(path) }
  FileManager.default.createFile(atPath: path, contents: nil)
  let file = FileHandle(forWritingAtPath: path)!
  let block = Data(String(repeating: String(repeating: "x", count: 99) + "\n", count: 10_486).utf8)
  for _ in 0..<(isShort ? 256 : 1024) { file.write(block) }
  func seconds(_ work: () -> Void) -> Double { Clock.wall.time(work).nanoseconds / 1e9 }
  func processor(_ work: () -> Void) -> Double { Clock.processor.time(work).nanoseconds / 1e9 }
  func inC() {
    var bytes = 0
    _ = c_count_lines(path, &bytes)
  }
  try row(
    "lines of a file, counted", 1.3, rounds: rounds, { seconds { _ = countLines(path) } }, { seconds(inC) })
  try row(
    "lines of a file, counted, processor", 1.3, rounds: rounds, { processor { _ = countLines(path) } },
    { processor(inC) })
  try row(
    "lines of a file, as text", 0, rounds: rounds, { seconds { _ = countTexts(path) } }, { seconds(inC) })
  try row(
    "lines of a file, as an AsyncSequence of bytes", 0, rounds: rounds, { seconds { _ = countLines(path) } },
    { seconds { _ = countAsynchronously(path) } })
  try row(
    "lines of a file, as Data of a FileHandle", 0, rounds: rounds, { seconds { _ = countLines(path) } },
    { seconds { _ = countWithFileHandle(path) } })
}
