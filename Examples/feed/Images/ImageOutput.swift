import FeedStream
import Foundation
import ImageFeed
import TerminalImages

/// The images of feeds on standard output, in order.
final class ImageOutput {
  /// A list of items, for a terminal with images or without.
  struct List: Sendable {
    /// The text above the list.
    var headline: @Sendable () -> String
    /// The items to show with images.
    var entries: [ImageBlocks.Entry]
    var count: Int
    /// The text of the items after the first *n*.
    var rest: @Sendable (Int) -> String
    /// The whole list without images.
    var plain: @Sendable () -> [UInt8]
  }

  private let options: ImageOptions
  private let session: Session
  private let width: Int?
  private let thumbnails: Thumbnails
  private let abilities: AnyPublisher<TerminalAbilities, Never>
  private let worker: SerialWorker

  /// Queries the terminal immediately; it replies while the feed is loaded. The session waits for the replies, even if
  /// the load fails, so that they don't reach the shell.
  ///
  /// - Returns: `nil` if no images are wanted, or none can be shown.
  init?(
    _ options: ImageOptions, for load: LoadOptions, client: any HTTPClient, isOffline: Bool, on session: Session,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    let isScreen = Style.isScreen(STDOUT_FILENO, environment: environment)
    guard load.format == .text, options.choice == .always || options.choice == .auto && isScreen else { return nil }
    let loader = ImageLoader(
      for: load.common, client: isOffline ? OfflineClient() : client, on: session)
    let decoder = ImageDecoder(on: session, without: "Images are shown as empty frames.")
    thumbnails = Thumbnails(loader, decoder, isOffline: isOffline, on: session.loop)
    guard options.choice == .always || thumbnails.isAvailable else { return nil }
    if !thumbnails.isAvailable {
      session.console.warn("image-decoder isn't installed next to feed; images are shown as empty frames.")
    }
    self.options = options
    self.session = session
    width = load.width
    worker = SerialWorker(on: session.loop)
    let answered = StandardTerminal.abilities(on: session, environment).share(replay: 1)
    abilities = answered.eraseToAnyPublisher()
    session.waitFor(answered)
    session.keep(AnyCancellable { [thumbnails] in thumbnails.close() })
  }

  /// The list, piece by piece, as images arrive.
  func output(of list: List) -> AnyPublisher<[UInt8], Never> {
    abilities
      .flatMap(maxPublishers: .max(1)) { [self] abilities in output(of: list, on: abilities) }
      .eraseToAnyPublisher()
  }

  private func output(of list: List, on abilities: TerminalAbilities) -> AnyPublisher<[UInt8], Never> {
    let blocks = ImageBlocks(
      screen: screen, count: list.count, isGrid: options.grid, abilities: abilities,
      hasColor: session.outputStyle.hasColor)
    guard let blocks, options.choice == .always || abilities.mode.isGraphic, !list.entries.isEmpty else {
      return worker.publisher { list.plain() }
    }
    let rows = list.entries
      .ahead(width: Thumbnails.width) { [thumbnails] entry in
        thumbnails.drawing(of: entry.image.url, named: entry.feed, entry.isPrivate, in: blocks.box).map { (entry, $0) }
      }
      .collect(blocks.across)
      .flatMap(maxPublishers: .max(1)) { [worker] row in worker.publisher { blocks.bytes(of: row) } }
    return worker.publisher { Array((list.headline() + "\n").utf8) }
      .append(rows)
      .append(worker.publisher { Array(list.rest(list.entries.count).utf8) })
      .eraseToAnyPublisher()
  }

  private var screen: (columns: Int, rows: Int) {
    let size = winsize(of: STDOUT_FILENO).flatMap { $0.ws_row > 0 ? $0 : nil }
    return (max(width ?? size.map { Int($0.ws_col) } ?? 80, 20), size.map { Int($0.ws_row) } ?? 24)
  }
}
