import ArgumentParser
import FeedFleet
import FeedFormats
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// The actions of `feed subscriptions`, on a fleet's list instead of a file.
struct FleetSubscriptions {
  let store: StoreArgument

  /// The maximum number of feeds that one call to the store adds.
  private static let batch = 250

  func list(_ format: OutputFormat) throws {
    let session = Session()
    let fleet = session.fleet(at: store)
    session.run(fleet.addresses()) { page in
      page.map { format == .json ? "{\"version\":1,\"url\":\(FeedJSON.quoted($0.shown))}\n" : "\($0.shown)\n" }.joined()
    } ended: { completion in
      if case .failure(let error) = completion { session.fail("\(error)") }
      session.leave()
    }
    try session.finish {}
  }

  func add(_ addresses: [URL], on session: Session) throws {
    let fleet = session.fleet(at: store, creates: true)
    try session.answer(fleet.add(addresses.map { NewFeed($0) })) { added in
      let known = addresses.count - added
      let rest = known > 0 ? "; \(known) \(known == 1 ? "was" : "were") already in the list" : ""
      return "Added \(counted(added, "feed"))\(rest)\n"
    }
  }

  func remove(_ addresses: [URL]) throws {
    let session = Session()
    let fleet = session.fleet(at: store)
    let removals = addresses.publisher.setFailureType(to: FleetError.self)
      .concatMap { address in fleet.remove(address).map { (address, $0) } }
    session.run(removals) { address, isRemoved in
      isRemoved ? "Removed \(address.shown)\n" : ""
    } written: { removal, done in
      if !removal.1 {
        session.console.fail("\(removal.0.shown) is not in the list")
        session.fail()
      }
      done()
    } ended: { completion in
      if case .failure(let error) = completion { session.fail("\(error)") }
      session.leave()
    }
    try session.finish {}
  }

  /// Adds the feeds of a file, either OPML or one URL per line. A list of URLs is read and added piece by piece, so it
  /// may have millions of lines.
  ///
  /// - Parameter spread: the time over which the first polls are spread.
  func importing(_ path: String, spread: Duration) throws {
    let session = Session()
    let fleet = session.fleet(at: store, creates: true)
    let tally = Tally()
    let addresses = try Self.addresses(in: path, on: session, tally)
    let added =
      addresses
      .map { address in NewFeed(address, after: spread * Double.random(in: 0..<1)) }
      .collect(Self.batch)
      .eraseFailureType()
      .flatMap(maxPublishers: .max(4)) { feeds in
        fleet.add(feeds).map { (feeds.count, $0) }.eraseFailureType()
      }
      .handleEvents(receiveOutput: { [console = session.console] in
        tally.total += $0.0
        tally.added += $0.1
        console.setStatus("\(tally.total) read, \(tally.added) added")
      })
      .compactMap { _ -> String? in nil }
    session.run(added) {
      $0
    } ended: { completion in
      if case .failure(let error) = completion {
        session.fail(Self.sentence(about: error))
        // After any other failure, the same command would fail again.
        let isTemporary = (error as? FleetError)?.isTemporary == true
        session.console.report(
          "Added \(counted(tally.added, "feed"))\(isTemporary ? "; run the same command to continue" : "")"
        )
        return session.leave()
      }
      session.print(Array(ImportedList.result(tally.added, of: tally.total).utf8)) { session.leave() }
      if let skipped = ImportedList.skipped(tally.unusable) { session.console.report(skipped) }
    }
    try session.finish {}
  }

  private static func sentence(about error: any Error) -> String {
    if case ChunkError.partTooLong(let limit) = error {
      return "A line is longer than \(limit.byteSize), so the input is not a list with one URL per line."
    }
    if error is MarkupInsteadOfLines {
      return "The input is not a list with one URL per line. With --store, OPML must be a regular file."
    }
    return "\(error)"
  }

  final class Tally {
    var total = 0
    var added = 0
    var unusable = ImportedList.Unusable()
    /// True once a line that isn't empty or a comment was read.
    var hasLines = false
  }

  /// The input begins with `<`, as OPML, feeds and web pages do.
  private struct MarkupInsteadOfLines: Error {}

  private static func addresses(
    in path: String, on session: Session, _ tally: Tally
  ) throws -> AnyPublisher<URL, any Error> {
    if path == "-" {
      return lines(StandardInput.bytes(on: session.loop).eraseFailureType().eraseToAnyPublisher(), tally)
    }
    let file = lines(File(path).bytes(on: session.loop).eraseFailureType().eraseToAnyPublisher(), tally)
    if ImportedList.isStream(path) { return file }
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw ValidationError("\(path.printable) can't be read.")
    }
    let beginning = (try? handle.read(upToCount: 512)) ?? Data()
    try? handle.close()
    guard beginning.contains(UInt8(ascii: "<")) else { return file }
    do {
      let list = try SubscriptionFile.listUnlessText(at: path)
      if list.isCutOff { ImportedList.reportCutOff(path) }
      tally.unusable = ImportedList.unusable(in: list)
      let addresses = list.subscriptions.map(\.address)
      return addresses.publisher.setFailureType(to: (any Error).self).eraseToAnyPublisher()
    } catch SubscriptionFileError.notAList where !beginsWithMarkup(beginning) {
      // A comment, or the text after a URL, may contain "<", too.
      return file
    }
  }

  /// True if the first visible character is `<`, in UTF-8 or UTF-16, with or without a byte order mark.
  private static func beginsWithMarkup(_ beginning: Data) -> Bool {
    let invisible: Set<UInt8> = [0, 0x09, 0x0A, 0x0D, 0x20, 0xBB, 0xBF, 0xEF, 0xFE, 0xFF]
    return beginning.first { !invisible.contains($0) } == UInt8(ascii: "<")
  }

  private static func lines(_ bytes: AnyPublisher<Chunk, any Error>, _ tally: Tally) -> AnyPublisher<URL, any Error> {
    bytes.lines()
      .eraseFailureType()
      .tryCompactMap { line -> URL? in
        guard let text = ImportedList.url(in: line) else { return nil }
        guard tally.hasLines || !text.hasPrefix("<") else { throw MarkupInsteadOfLines() }
        tally.hasLines = true
        guard let address = try? FeedAddress.parse(text, hintsAtFiles: false) else {
          tally.unusable.add(text)
          return nil
        }
        return address
      }
      .eraseToAnyPublisher()
  }
}
