import FeedFormats
import FeedStream
import Foundation

/// A part of a body that is large enough to justify a switch to the thread pool.
struct DocumentPiece: Sendable {
  var bytes: Chunk
  var isLast: Bool
}

/// Joins chunks into pieces: 16 KiB at first, so that an invalid document is recognized early, then doubling up to 256
/// KiB.
struct PieceDecoder: ChunkDecoder {
  static let smallest = 16 << 10
  static let largest = 256 << 10

  private var held: [Chunk] = []
  private var count = 0
  private var wanted = Self.smallest
  private var isOver = false

  mutating func feed(_ chunk: Chunk) {
    held.append(chunk)
    count += chunk.count
  }

  mutating func next() -> DocumentPiece? { count >= wanted ? take(isLast: false) : nil }

  mutating func finish() -> DocumentPiece? {
    guard !isOver else { return nil }
    isOver = true
    return take(isLast: true)
  }

  private mutating func take(isLast: Bool) -> DocumentPiece {
    defer { (held, count, wanted) = ([], 0, min(2 * wanted, Self.largest)) }
    return DocumentPiece(bytes: Chunk(joining: held), isLast: isLast)
  }
}

/// Reads one document, piece by piece, on the thread pool.
// @unchecked: pieces are read one after another, never at the same time.
final class DocumentReading: @unchecked Sendable {
  private enum Stage {
    /// There are too few bytes to recognize the format.
    case beginning
    /// A web page, which is read for its links.
    case page
    /// The format reads only complete documents.
    case whole
    case arriving(any FeedReader)
  }

  /// The part of a page that is searched for links, in bytes.
  private static let pageBytes = 1 << 20

  private let formats: [any FeedFormat]
  private let limits: FeedLimits
  private let known: BodyDigest?
  private var digest = BodyDigest.Builder()
  private var stage = Stage.beginning
  /// The part of the document that is kept.
  private var document: WebDocument

  /// - Parameter known: the digest of a body that needn't be mapped again.
  init(
    of document: ArrivingDocument, as formats: [any FeedFormat], within limits: FeedLimits,
    unless known: BodyDigest? = nil
  ) {
    self.formats = formats
    self.limits = limits
    self.known = known
    self.document = WebDocument(
      body: Data(), type: document.type, url: document.url, validators: document.validators)
    self.document.feed = document.feed
    self.document.isFromPrivateNetwork = document.isFromPrivateNetwork
  }

  /// - Returns: the images, after the last piece; `nil` before.
  func read(_ piece: DocumentPiece) throws(RemoteFeedError) -> Fetched<FeedImages>? {
    piece.bytes.withUnsafeBytes { digest.append($0) }
    if piece.isLast {
      let digest = self.digest
      document.validators.digest = digest.finish()
    }
    defer { if piece.isLast { release() } }
    if piece.isLast, known != nil, known == document.validators.digest { throw .unchanged(document.validators) }
    do throws(InvalidData) {
      return try images(after: piece).map { Fetched(marked($0), validators: document.validators) }
    } catch {
      release()
      if case .cutOff(let images) = error { throw .invalidData(.cutOff(marked(images))) }
      throw .invalidData(error)
    }
  }

  private func marked(_ images: FeedImages) -> FeedImages {
    images.marked(isFromPrivateNetwork: document.isFromPrivateNetwork)
  }

  private func images(after piece: DocumentPiece) throws(InvalidData) -> FeedImages? {
    if case .arriving = stage {
      try feed(piece.bytes)
    } else {
      piece.bytes.withUnsafeBytes { document.body.append(contentsOf: $0) }
      try judge(isWhole: piece.isLast)
    }
    return piece.isLast ? try finish() : nil
  }

  private func judge(isWhole: Bool) throws(InvalidData) {
    if case .beginning = stage {
      stage = document.isWebPage ? .page : try chosen(isWhole: isWhole)
      // Anubis sends its challenge with status 200.
      if case .page = stage, ChallengePage.isChallenge(document.body) { throw .challenge(200) }
    }
    guard case .page = stage, isWhole || document.body.count >= Self.pageBytes else { return }
    let all = document.feedLinks.filter { URL(string: $0.address) != document.url }
    let posts = all.filter { !$0.isOfComments }
    let links = posts.isEmpty ? all : posts
    guard links.isEmpty else { throw links.count > 1 ? .severalFeeds(links) : .pageOfFeed(links[0]) }
    stage = try chosen(isWhole: isWhole)
  }

  /// Chooses the format based on the document's content.
  private func chosen(isWhole: Bool) throws(InvalidData) -> Stage {
    guard !isWhole else { return .whole }
    guard let format = formats.first(where: { $0.recognizes(document) }) else { throw .notAFeed }
    guard var reader = format.reader(of: document, within: limits) else { return .whole }
    try reader.read(document.body.withUnsafeBytes { Chunk(copying: $0) })
    document.body = Data()
    return .arriving(reader)
  }

  private func feed(_ bytes: Chunk) throws(InvalidData) {
    guard case .arriving(var reader) = stage else { return }
    // Release the other reference to the reader, so that reading doesn't copy it.
    stage = .whole
    try reader.read(bytes)
    stage = .arriving(reader)
  }

  private func finish() throws(InvalidData) -> FeedImages {
    guard case .arriving(var reader) = stage else { return try formats.images(of: document, within: limits) }
    stage = .whole
    return try reader.finish()
  }

  /// Releases the document here, on the pool, because releasing it takes time.
  private func release() {
    stage = .whole
    document.body = Data()
  }
}

extension WebDocument {
  /// True for a web page, judged by its first bytes.
  public var isWebPage: Bool { FeedLink.isPage([UInt8](body.prefix(4096))) }

  /// The feeds that a web page links to.
  public var feedLinks: [FeedLink] {
    FeedLink.links(inPage: [UInt8](body.prefix(1 << 20)), address: url.absoluteString)
  }
}
