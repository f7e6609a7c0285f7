import FeedStream
import Foundation

/// The bytes of a body between the connection and a reader with demand. The stream buffers a limited number of
/// undecoded bytes, and decodes them on demand.
///
/// Decoding on demand limits the work of one turn: 16 KiB may decode to 16 MiB.
final class BodyStream {
  enum Next {
    case chunk(Chunk)
    /// More bytes must arrive first.
    case nothing
    case failed(HTTPError.Kind, cause: String)
  }

  /// The number of waiting bytes at which reading from the connection pauses.
  static let window = 256 << 10
  /// The number of bytes that are decoded for one chunk.
  private static let decodedBytes = 64 << 10
  /// The number of small pieces' bytes that are joined.
  private static let joinedBytes = 16 << 10

  /// True while the connection is not read because ``window`` is full.
  var isPaused = false
  @exclusivity(unchecked)  // Here and below: changed for every request, on one thread.
  private var pieces: [Chunk] = []
  /// The bytes after `pieces`. A server may send them one by one, so they are joined while others wait.
  @exclusivity(unchecked) private var tail: [UInt8] = []
  @exclusivity(unchecked) private var waiting = 0
  @exclusivity(unchecked) private var decoder: (any ContentDecoder)?
  private var coding = ""
  /// True if decoding can continue without new bytes.
  private var holdsMore = false
  private var count = 0
  private var limit = 0
  @exclusivity(unchecked) private var room: [UInt8] = []

  /// Resets the stream for a new body.
  func begin(limit: Int) {
    discard()
    self.limit = limit
    count = 0
  }

  /// Sets the decoder of the body's content coding.
  func decode(with decoder: any ContentDecoder, coding: String) {
    self.decoder = decoder
    self.coding = coding
  }

  func discard() {
    pieces = []
    tail = []
    waiting = 0
    decoder = nil
    holdsMore = false
    isPaused = false
    room = []
  }

  var isFull: Bool { waiting >= Self.window }

  /// True when everything that has arrived has been delivered.
  var isDrained: Bool { waiting == 0 && !holdsMore }

  /// The error to report if the body ends now; `nil` if it is complete.
  var problemAtEnd: (HTTPError.Kind, cause: String)? {
    guard let decoder, !decoder.isComplete else { return nil }
    return (.truncated, "the \(coding) data is cut off")
  }

  /// Accepts bytes as they arrive.
  ///
  /// - Returns: false if the body exceeds its limit.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if decoder == nil {
      count += bytes.count
      guard count <= limit else { return false }
    }
    if tail.count + bytes.count > Self.joinedBytes { cutTail() }
    if waiting == 0 || tail.isEmpty && bytes.count >= Self.joinedBytes {
      pieces.append(Chunk(copying: bytes))
    } else {
      tail.append(contentsOf: bytes)
    }
    waiting += bytes.count
    return true
  }

  /// Moves `tail` to `pieces`.
  private func cutTail() {
    guard !tail.isEmpty else { return }
    pieces.append(Chunk(tail))
    tail.removeAll(keepingCapacity: true)
  }

  /// The first waiting bytes, which stay in `pieces`.
  private func first() -> Chunk? {
    if pieces.isEmpty { cutTail() }
    return pieces.first
  }

  /// The next bytes for the reader.
  func next() -> Next {
    if let decoder { return decoded(by: decoder) }
    guard let piece = first() else { return .nothing }
    drop(piece.count)
    return .chunk(piece)
  }

  private func decoded(by decoder: any ContentDecoder) -> Next {
    if room.isEmpty { room = Array(repeating: 0, count: Self.decodedBytes) }
    var filled = 0
    while filled < room.count, let piece = first() ?? (holdsMore ? Chunk() : nil) {
      let step = piece.withUnsafeBytes { input in
        room.withUnsafeMutableBytes { room in
          decoder.decode(input, into: UnsafeMutableRawBufferPointer(rebasing: room[filled...]))
        }
      }
      guard let (consumed, produced) = step, consumed + produced > 0 || piece.isEmpty else {
        return .failed(.encoding, cause: "the \(coding) data is damaged")
      }
      drop(consumed)
      filled += produced
      holdsMore = filled == room.count
    }
    count += filled
    guard count <= limit else { return .failed(.tooLarge(limit: limit), cause: "") }
    return filled == 0 ? .nothing : .chunk(Chunk(room[..<filled]))
  }

  /// Drops consumed bytes of the first piece, and the piece itself once all its bytes are consumed.
  private func drop(_ consumed: Int) {
    guard let piece = pieces.first else { return }
    waiting -= consumed
    if consumed == piece.count { pieces.removeFirst() } else { pieces[0] = piece[consumed..<piece.count] }
  }
}
