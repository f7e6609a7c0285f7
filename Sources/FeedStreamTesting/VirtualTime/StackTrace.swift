#if canImport(Runtime)
  import FeedStream
  import Foundation
  import Runtime
  import Synchronization
#endif

/// Finds the caller of virtual time, for messages. Walking the stack takes a fraction of a millisecond; reading the
/// debug information for a new stack takes a tenth of a second.
enum StackTrace {
  #if canImport(Runtime)
    private static let reader = Mutex(Reader())

    /// The nearest caller outside this module's virtual time, such as `Debounce.receive(_:) (Debounce.swift:40)`.
    static func caller() -> WorkOrigin {
      guard let images = reader.withLock({ $0.loaded() }),
        let trace = try? Backtrace.capture(algorithm: .fast, limit: 12, offset: 1, top: 0, images: images)
      else { return .untraced }
      return reader.withLock { $0.origin(of: trace, images) }
    }

    private struct Reader {
      private var known: [[String]: WorkOrigin] = [:]
      /// The loaded images. Captured only once, because capturing reads the beginning of every file that the process
      /// has mapped. If a file were unmapped or truncated in the meantime, such as a database on another test's thread,
      /// the process would crash.
      private var images: ImageMap?

      mutating func loaded() -> ImageMap? {
        if images == nil, !Reader.sharesFiles { images = ImageMap.capture() }
        return images
      }

      mutating func origin(of trace: Backtrace, _ images: ImageMap) -> WorkOrigin {
        let key = trace.frames.map(\.description)
        if let origin = known[key] { return origin }
        let origin = Reader.read(trace, images)
        known[key] = origin
        return origin
      }

      /// True if the process maps files that may change, such as a database, as opposed to a program. Also true if this
      /// is unknown.
      private static var sharesFiles: Bool {
        // Don't use Foundation, which would stop after the first 4 KiB that the kernel returns.
        guard let maps = fopen("/proc/self/maps", "re") else { return true }
        defer { fclose(maps) }
        // Freed below: `getline` allocates and enlarges the buffer.
        var line: UnsafeMutablePointer<CChar>?
        defer { free(line) }
        var room = 0
        while getline(&line, &room, maps) > 0, let text = line {
          // "7f1c…-7f1d… rw-s 00000000 08:01 1234  /a/file": the fourth letter is `s` for shared mappings.
          let fields = String(cString: text).split(separator: " ", maxSplits: 5)
          if fields.count == 6, fields[1].hasSuffix("s") { return true }
        }
        return false
      }

      private static func read(_ trace: Backtrace, _ images: ImageMap) -> WorkOrigin {
        let options: Backtrace.SymbolicationOptions = [.useSymbolCache, .showSourceLocations]
        for frame in trace.symbolicated(with: images, options: options)?.frames ?? [] {
          guard !frame.isSwiftThunk, let symbol = frame.symbol, let place = symbol.sourceLocation,
            !place.path.contains("FeedStreamTesting/VirtualTime/"), !place.path.hasSuffix("Core/Scheduler.swift")
          else { continue }
          let file = place.path.split(separator: "/").last ?? ""
          return .function("\(symbol.name) (\(file):\(place.line))")
        }
        return .untraced
      }
    }
  #else
    static func caller() -> WorkOrigin { .untraced }
  #endif
}
