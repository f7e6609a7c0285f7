import FeedStream

/// The beginning and the end of a subscription, drawn as text.
///
///     source        --a--b--c--d--|
///     subscription  ---^------!
///
/// | text | means |
/// | --- | --- |
/// | `-` | one frame passes |
/// | `^` | the subscription begins; it takes one frame |
/// | `!` | the subscription is over: cancelled or completed; it takes one frame |
/// | `(^!)` | both at the same instant |
/// | ` 100ms ` | as in ``Marbles`` |
/// | space, end of a line | nothing; for alignment |
///
/// Without `!`, the subscription continues. In a diagram for `record(on:during:)`, you can leave out `^` to subscribe
/// immediately. The notation is that of ReactiveX's test schedulers.
public struct SubscriptionMarbles: Equatable, Sendable {
  /// The time when the subscription begins; `nil` if there is no `^`.
  public var subscribed: StreamInstant.Stride?
  /// The time when the subscription is over; `nil` if there is no `!`.
  public var unsubscribed: StreamInstant.Stride?

  public init(subscribed: StreamInstant.Stride?, unsubscribed: StreamInstant.Stride? = nil) {
    self.subscribed = subscribed
    self.unsubscribed = unsubscribed
  }

  /// Reads a drawing.
  ///
  /// - Parameters:
  ///   - text: the drawing.
  ///   - frame: the duration of one character.
  public init(_ text: String, frame: StreamInstant.Stride = .milliseconds(1)) throws(MarbleError) {
    // The marble parser reads `!` and the stand-in for ^ as values. Without the stand-in, it would measure times from
    // ^, which here is an ordinary frame.
    let begin = Self.stand(for: text)
    var parser = MarbleParser(String(text.map { $0 == "^" ? begin : $0 }), frame: frame)
    let marbles: [Marbles.Marble]
    do throws(MarbleError) {
      marbles = try parser.parse()
    } catch {
      throw MarbleError(text: text, offset: error.offset, reason: error.reason)
    }
    for marble in marbles {
      switch marble.symbol {
      case .value(begin):
        guard subscribed == nil else {
          throw MarbleError(
            text: text, offset: marble.offset, reason: "a diagram shows one subscription; remove this ^")
        }
        if unsubscribed != nil {
          throw MarbleError(
            text: text, offset: marble.offset, reason: "the subscription has already ended; put ^ before !")
        }
        subscribed = marble.time
      case .value("!"):
        if unsubscribed != nil {
          throw MarbleError(
            text: text, offset: marble.offset, reason: "the subscription has already ended; remove this !")
        }
        unsubscribed = marble.time
      default:
        throw MarbleError(
          text: text, offset: marble.offset,
          reason: "a subscription diagram can't contain values or a completion; use only -, ^ and !")
      }
    }
  }

  /// A character that does not occur in `text`.
  private static func stand(for text: String) -> Character {
    ["\u{2303}", "\u{2191}", "\u{2227}"].first { !text.contains($0) } ?? "\u{2303}"
  }

  private var events: [(time: StreamInstant.Stride, character: Character)] {
    var events: [(time: StreamInstant.Stride, character: Character)] = []
    if let subscribed { events.append((subscribed, "^")) }
    if let unsubscribed { events.append((unsubscribed, "!")) }
    return events
  }

  /// The subscription as a lane of a drawing.
  func lane(_ title: String) -> MarbleText.Lane {
    MarbleText.Lane(title: title, events: events.map { ($0.time, String($0.character)) }, ending: unsubscribed)
  }

  /// The subscription as a diagram.
  func text(frame: StreamInstant.Stride) -> String { MarbleWriter(frame: frame).text(events) }
}
