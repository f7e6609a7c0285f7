import FeedRedis
import FeedStream

/// Checks that any bytes are a Redis server's replies or an error, the same however they are split, and within the
/// decoder's limits.
///
/// The first byte determines how the rest is split.
func fuzzRedis(_ input: UnsafeBufferPointer<UInt8>) -> Int32 {
  guard let first = input.first else { return 0 }
  let bytes = Array(input.dropFirst())
  var limits = RESPDecoder.Limits()
  (limits.stringBytes, limits.lineBytes, limits.depth, limits.values) = (4096, 1024, 8, 1000)
  let whole = replies(in: [bytes], limits)
  var (pieces, place, length) = ([[UInt8]](), 0, Int(first % 7) + 1)
  while place < bytes.count {
    let end = min(place + length, bytes.count)
    pieces.append(Array(bytes[place..<end]))
    (place, length) = (end, length * 5 % 13 + 1)
  }
  let cut = replies(in: pieces, limits)
  // Compare as text, in which NaN equals itself.
  guard "\(whole)" == "\(cut)" else { finding("whole \(whole), in pieces \(cut)") }
  for value in whole.values {
    guard depth(of: value) <= limits.depth else { finding("\(depth(of: value)) deep") }
    if case .error(let refusal) = value {
      guard !refusal.description.isEmpty || refusal.code.isEmpty else { finding("a refusal without words") }
    }
    _ = (value.text, value.integer, value["k"], RedisEntry(value))
  }
  return 0
}

private struct Outcome {
  var values: [RedisValue] = []
  var error: RESPError?
}

private func replies(in pieces: [[UInt8]], _ limits: RESPDecoder.Limits) -> Outcome {
  var decoder = RESPDecoder(limits: limits)
  var outcome = Outcome()
  do {
    for piece in pieces where !piece.isEmpty {
      decoder.feed(Chunk(piece))
      while let value = try decoder.next() { outcome.values.append(value) }
    }
    if let value = try decoder.finish() { finding("\(value) after the end") }
  } catch let error as RESPError {
    outcome.error = error
  } catch {
    finding("\(error) is no RESPError")
  }
  return outcome
}

private func depth(of value: RedisValue) -> Int {
  1 + (value.elements?.map { depth(of: $0) }.max() ?? -1)
}
