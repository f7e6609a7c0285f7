import FeedStream

/// A stream drawn as text.
///
/// | text | means |
/// | --- | --- |
/// | `-` | one frame passes |
/// | `a`, `7`, any other character | a value; it takes one frame too |
/// | <code>\|</code> | the stream finishes |
/// | `#` | the stream fails |
/// | `(ab\|)` | several events at the same instant; a group takes one frame |
/// | ` 100ms ` | between two characters, with spaces around it: the time between them, instead of one frame |
/// | `^` | the test begins here, and earlier events have already happened; only in hot publishers |
/// | space, end of a line | nothing; for alignment |
///
/// A frame lasts a millisecond by default. The units of times are `ns`, `us` or `µs`, `ms`, `s`, `m`, `h` and `d`. The
/// notation is that of ReactiveX's test schedulers, with two changes: a group takes as long as a value, and `a 100ms b`
/// puts `b` 100 ms after `a`.
public struct Marbles: Equatable, Sendable {
  /// The meaning of a character.
  public enum Symbol: Hashable, Sendable {
    case value(Character)
    case finished
    case failed
  }

  /// A symbol, its time since the beginning of the test, and its position in the text.
  public struct Marble: Equatable, Sendable {
    public var time: StreamInstant.Stride
    public var symbol: Symbol
    /// The index of the character in the text, from 0.
    public var offset: Int
  }

  public var marbles: [Marble]
  /// The text of the drawing, unchanged.
  public let text: String

  /// Reads a drawing.
  ///
  /// - Parameters:
  ///   - text: the drawing.
  ///   - frame: the duration of one character.
  public init(_ text: String, frame: StreamInstant.Stride = .milliseconds(1)) throws(MarbleError) {
    var parser = MarbleParser(text, frame: frame)
    self.text = text
    marbles = try parser.parse()
  }

  init(text: String, marbles: [Marble]) {
    self.text = text
    self.marbles = marbles
  }
}

/// The reason why a drawing cannot be read, and the character that causes it.
public struct MarbleError: Error, Equatable, CustomStringConvertible {
  /// The drawing.
  public var text: String
  /// The index of the offending character, from 0; the length of the text if something is missing at its end.
  public var offset: Int
  /// The mistake, and what to write instead.
  public var reason: String

  public var description: String {
    var lines = ["This marble diagram cannot be read:"]
    var start = 0
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      lines.append("  \(line)")
      // Mark the character below its own line, because a drawing may have several lines.
      if start...(start + line.count) ~= offset {
        let indent = line.prefix(offset - start).map { $0 == "\t" ? "\t" : String(repeating: " ", count: $0.columns) }
        lines.append("  \(indent.joined())^ \(reason)")
      }
      start += line.count + 1
    }
    return lines.joined(separator: "\n")
  }
}
