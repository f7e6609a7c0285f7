import Foundation
import Synchronization

/// Reads the text that arrives at a pipe or a terminal, on a separate thread.
package final class Lines: Sendable {
  private let state = Mutex(State())
  private let descriptor: Int32
  private let starts: Bool

  private struct State {
    var bytes = Data()
    var isOver = false
    var isUnwanted = false
    var waiting: [@Sendable () -> Void] = []
  }

  /// - Parameter starts: true to read; otherwise the pipe fills up.
  init(_ descriptor: Int32, starts: Bool = true) {
    self.descriptor = descriptor
    self.starts = starts
    guard starts else { return }
    Thread.detachNewThread { [self] in
      // Wait for a short time, and then check whether the text is still wanted.
      while !state.withLock({ $0.isUnwanted }) {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Foundation.poll(&poll, 1, 20) != 0 else { continue }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Foundation.read(descriptor, &buffer, buffer.count)
        // A terminal whose other side has closed returns an error.
        guard count > 0 else { break }
        arrived(buffer.prefix(count))
      }
      Foundation.close(descriptor)
      arrived([])
    }
  }

  deinit {
    // Otherwise the thread closes it.
    if !starts { Foundation.close(descriptor) }
  }

  /// Closes the reading end soon, like a reader who stops early.
  package func close() { state.withLock { $0.isUnwanted = true } }

  /// Waits for a text; everything up to its end counts as read.
  ///
  /// - Returns: the text read, or `nil` when the pipe ended without the one expected.
  package func read(upTo text: String) async -> String? {
    await take { state -> String?? in
      guard let range = state.bytes.range(of: Data(text.utf8)) else { return state.isOver ? .some(nil) : nil }
      let read = String(decoding: state.bytes[..<range.upperBound], as: UTF8.self)
      state.bytes.removeSubrange(..<range.upperBound)
      return read
    }
  }

  /// Waits for a whole line.
  package func line() async -> String? { await read(upTo: "\n") }

  /// Waits for the end.
  package func rest() async -> String {
    await take { state in state.isOver ? String(decoding: state.bytes, as: UTF8.self) : nil }
  }

  /// Waits until `look` returns a value.
  private func take<T: Sendable>(_ look: @Sendable (inout State) -> T?) async -> T {
    while true {
      let found: T? = await withCheckedContinuation { continuation in
        let found = state.withLock { state -> T?? in
          if let found = look(&state) { return found }
          state.waiting.append { continuation.resume(returning: nil) }
          return nil
        }
        if let found { continuation.resume(returning: found) }
      }
      if let found { return found }
    }
  }

  private func arrived(_ bytes: ArraySlice<UInt8>) {
    let waiting = state.withLock { state in
      state.bytes += bytes
      if bytes.isEmpty { state.isOver = true }
      defer { state.waiting = [] }
      return state.waiting
    }
    for wake in waiting { wake() }
  }
}
