import ArgumentParser
import FeedHTTP
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed get`: one request, through a private HTTP cache if there is a file for it.
struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Get what is at an address, and write it as it is.",
    discussion: """
      With --cache, answers are stored and used as RFC 9111 and RFC 5861 allow a private cache; without it, nothing is. \
      Redirects are followed. The body is written byte for byte as the server sends it: compressed only if a --header \
      asks for that. Any answer is a success, 404 and 500 as well.
      """)

  @Argument(help: ArgumentHelp("An address, http or https.", valueName: "url"), transform: FeedAddress.parse)
  var address: URL

  @OptionGroup var request: RequestOptions

  @OptionGroup var trust: TrustOptions

  @Option(
    help: ArgumentHelp("The file of the HTTP cache; it is created if it is missing.", valueName: "file"),
    completion: .file())
  var cache: String?

  @Flag(help: "Write the status line, the header and an empty line first.")
  var include = false

  @Option(
    help: ArgumentHelp("How long a request may take in all. (default: 30s)", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var timeout = DurationArgument(.seconds(30))

  @Flag(name: .shortAndLong, help: "Report each step on standard error.")
  var verbose = false

  func validate() throws {
    if cache?.isEmpty == true { throw ValidationError("--cache needs the path of a file.") }
    if let cache { try CommonOptions.check(cache, as: .responses) }
  }

  func run() throws {
    let session = Session(verbose: verbose)
    let store = cache.map { path in
      SQLiteHTTPCache(
        path: path, on: session.loop,
        // On a thread of the pool, where the console is out of reach.
        onSetAside: { aside in
          StandardError.shared.write("The cache file was damaged and has been set aside as \(aside.printable).\n")
        })
    }
    // Through the cache, a body is held in memory.
    var asked = HTTPRequest(address, timeout: timeout.duration, maxBodyBytes: store == nil ? .max : 64 << 20)
    asked.headers = request.headers(for: address)
    asked.decodesContent = false
    let include = include
    let answer = client(on: session, store).open(asked).flatMap(maxPublishers: .max(1)) { response in
      response.body.prepend(include ? [Chunk(Self.header(of: response))] : [])
    }
    session.run(answer) {
      Array($0)
    } ended: { completion in
      if case .failure(let error) = completion { session.fail("\(error)".printable) }
    }
    // What a stale answer is renewed by goes on until it is stored.
    try session.finish { store?.close() }
  }

  private func client(on session: Session, _ store: SQLiteHTTPCache?) -> any HTTPClient {
    let client = ObservedClient(client: trust.client(on: session.loop), observer: nil, log: session.log)
    guard let store else { return client }
    var options = HTTPCacheOptions()
    options.report = { [log = session.log, console = session.console] event in
      log.debug("cache", metadata: ["url": "\(event.url.shown)", "decision": "\("\(event)".printable)"])
      switch event.kind {
      case .storeFailed(let error): console.warn("The cache is not used: \(error)")
      case .unusable(let cause): console.warn("\(cause)")
      default: break
      }
    }
    return client.cached(in: store, options)
  }

  /// The status line and the fields, as they arrived but without those about the connection, and an empty line.
  private static func header(of response: StreamingResponse) -> [UInt8] {
    let phrase = HTTPStatus.phrase(response.status)
    return Array("HTTP/1.1 \(response.status) \(phrase)\r\n".utf8) + response.headers.endToEnd.wireFormat + [
      0x0D, 0x0A,
    ]
  }
}
