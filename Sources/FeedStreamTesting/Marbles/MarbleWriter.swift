import FeedStream

/// Writes events in the notation that ``Marbles`` reads.
struct MarbleWriter {
  let frame: StreamInstant.Stride

  /// The maximum number of frames to write as `-`; a longer wait is written as a time.
  private static let mostFrames: Int64 = 12

  /// The diagram of `events`, each given with its character.
  func text(_ events: [(time: StreamInstant.Stride, character: Character)]) -> String {
    let text = write(events, guarding: false)
    // A digit and a letter may be read as a time, as in `5s`. Digits in parentheses aren't.
    let times = (try? Marbles(text, frame: frame))?.marbles.map(\.time)
    return times == events.map(\.time) ? text : write(events, guarding: true)
  }

  private func write(_ events: [(time: StreamInstant.Stride, character: Character)], guarding: Bool) -> String {
    guard !events.isEmpty else { return "-" }
    var text = ""
    /// The time of the last events; a time literal is relative to it.
    var last: StreamInstant.Stride = 0
    /// The time of the next character.
    var next: StreamInstant.Stride = 0
    var rest = events[...]
    while let time = rest.first?.time {
      // An array, because some characters merge in a string.
      let characters = rest.prefix { $0.time == time }.map(\.character)
      rest = rest.dropFirst(characters.count)
      text += wait(from: next, last, to: time)
      let isGroup = characters.count > 1 || guarding && characters.allSatisfy(\.isNumber)
      text += isGroup ? "(\(String(characters)))" : String(characters)
      last = time
      next = time + frame
    }
    return text
  }

  private func wait(
    from next: StreamInstant.Stride, _ last: StreamInstant.Stride, to time: StreamInstant.Stride
  ) -> String {
    let wait = time.nanoseconds - next.nanoseconds
    if wait >= 0, wait % frame.nanoseconds == 0, wait / frame.nanoseconds <= Self.mostFrames {
      return String(repeating: "-", count: Int(wait / frame.nanoseconds))
    }
    let literal = "\((time.nanoseconds - last.nanoseconds).asTime) "
    return last.nanoseconds == 0 && next.nanoseconds == 0 ? literal : " " + literal
  }
}
