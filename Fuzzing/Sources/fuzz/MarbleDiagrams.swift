import FeedStream
import FeedStreamTesting

/// Checks that any text is a diagram that is the same after it is written and read again, or an error with a position
/// in the text.
func fuzzMarbles(_ input: UnsafeBufferPointer<UInt8>) -> Int32 {
  let text = String(decoding: input, as: UTF8.self)
  do throws(MarbleError) {
    let diagram = try Marbles(text).marbles
    let length = text.count
    for (earlier, later) in zip(diagram, diagram.dropFirst()) {
      guard earlier.time <= later.time, earlier.offset < later.offset else { finding("out of order: \(text)") }
    }
    guard diagram.allSatisfy({ (0..<length).contains($0.offset) }) else { finding("an offset outside of \(text)") }
    if let ending = diagram.firstIndex(where: { $0.symbol == .finished || $0.symbol == .failed }) {
      guard ending == diagram.count - 1 else { finding("something follows the ending of \(text)") }
    }
    expectSame(diagram, text)
  } catch {
    guard (0...text.count).contains(error.offset) else { finding("\(error.offset) is outside of \(text)") }
    guard error.text == text, !error.reason.isEmpty, "\(error)".contains("^ \(error.reason)") else {
      finding("a message that does not point at the character: \(error)")
    }
  }
  return 0
}

private func expectSame(_ diagram: [Marbles.Marble], _ text: String) {
  // A literal is read as a floating-point number of seconds, which distinguishes nanoseconds only up to a few weeks.
  guard diagram.allSatisfy({ abs($0.time.nanoseconds) < 1 << 50 }) else { return }
  let drawing = draw(diagram)
  let drawn = String(drawing)
  // Characters that merge with their neighbors cannot be written into a group.
  guard Array(drawn) == drawing else { return }
  do {
    let again = try Marbles(drawn).marbles
    guard again.map(\.time) == diagram.map(\.time), again.map(\.symbol) == diagram.map(\.symbol) else {
      finding("\(text.debugDescription), drawn as \(drawn.debugDescription), is another diagram:\n\(diagram)\n\(again)")
    }
  } catch {
    finding("\(text.debugDescription), drawn as \(drawn.debugDescription), cannot be read: \(error)")
  }
}

/// Draws every instant as a group, after the time since the previous one; `^` marks the test's beginning if something
/// comes before it.
private func draw(_ diagram: [Marbles.Marble]) -> [Character] {
  let begins = min(diagram.first?.time.nanoseconds ?? 0, 0)
  var text: [Character] = []
  var last = begins
  var hasOrigin = begins == 0
  var isOpen = false
  for marble in diagram {
    let time = marble.time.nanoseconds
    if isOpen, time != last {
      text.append(")")
      isOpen = false
    }
    if !isOpen {
      if !hasOrigin, time >= 0 {
        text += " \(0 - last)ns ^"
        last = 0
        hasOrigin = true
      }
      text += " \(time - last)ns ("
      last = time
      isOpen = true
    }
    switch marble.symbol {
    case .value(let character): text.append(character)
    case .finished: text.append("|")
    case .failed: text.append("#")
    }
  }
  if isOpen { text.append(")") }
  return hasOrigin ? text : text + Array(" \(0 - last)ns ^")
}
