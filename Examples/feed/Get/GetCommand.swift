import ArgumentParser
import FeedHTTP
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed get`: makes one request, through a private HTTP cache if a file is given.
struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Fetch a URL and write the body unchanged.",
    discussion: """
      With --cache, responses are stored and reused as RFC 9111 and RFC 5861 specify for a private cache; without \
      --cache, nothing is stored. Redirects are followed. The body is written byte for byte as the server sends it: \
      compressed only if a --header requests compression. Any response counts as success, even 404 or 500.
      """)

  @Argument(help: ArgumentHelp("The URL (http or https).", valueName: "url"), transform: FeedAddress.parse)
  var address: URL

  @OptionGroup var request: RequestOptions

  @OptionGroup var trust: TrustOptions

  @Option(
    help: ArgumentHelp("The HTTP cache file; created if it doesn't exist.", valueName: "file"),
    completion: .file())
  var cache: String?

  @Flag(help: "Write the status line, the header fields and an empty line before the body.")
  var include = false

  @Option(
    help: ArgumentHelp("Time limit for the request. (default: 30s)", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var timeout = DurationArgument(.seconds(30))

  @OptionGroup var log: LogOptions

  func validate() throws {
    if cache?.isEmpty == true { throw ValidationError("--cache needs the path of a file.") }
    if let cache { try CommonOptions.check(cache, as: .responses) }
  }

  func run() throws {
    let session = Session(log)
    let store = cache.map { path in
      SQLiteHTTPCache(
        path: path, on: session.loop,
        // This runs on a pool thread, where the console can't be used.
        onSetAside: { aside in
          StandardError.shared.write("The cache file was damaged and has been renamed to \(aside.printable).\n")
        })
    }
    // The cache holds a body in memory, so limit its size.
    var asked = HTTPRequest(address, timeout: timeout.duration, maxBodyBytes: store == nil ? .max : 64 << 20)
    asked.headers = request.headers(for: address)
    asked.decodesContent = false
    let include = include
    // Unlike flatMap, this holds no bytes, which a failure would drop.
    let answer = client(on: session, store).open(asked).flatMapLatest { response in
      response.body.prepend(include ? [Chunk(Self.header(of: response))] : [])
    }
    session.run(answer) { Array($0) }
    // Wait until the renewal of a stale response is stored.
    try session.finish { store?.close() }
  }

  private func client(on session: Session, _ store: SQLiteHTTPCache?) -> any HTTPClient {
    let client = ObservedClient(client: trust.client(on: session.loop), log: session.log)
    guard let store else { return client }
    var options = HTTPCacheOptions()
    options.report = { [log = session.log, console = session.console] event in
      log.debug("cache", metadata: ["url": "\(event.url.shown)", "decision": "\("\(event)".printable)"])
      switch event.kind {
      case .storeFailed(let error): console.warn("The cache can't be used: \(error)")
      case .unusable(let cause): console.warn("\(cause)")
      default: break
      }
    }
    return client.cached(in: store, options)
  }

  /// The status line, the fields as they arrived (except for those about the connection), and an empty line.
  private static func header(of response: StreamingResponse) -> [UInt8] {
    let phrase = HTTPStatus.phrase(response.status)
    return Array("HTTP/1.1 \(response.status) \(phrase)\r\n".utf8) + response.headers.endToEnd.wireFormat + [
      0x0D, 0x0A,
    ]
  }
}
