import ArgumentParser
import FeedFormats
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed inspect`: shows the content of a feed, item by item, and why each item has an image or doesn't.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show the content of a feed, and every image that it refers to.",
    discussion: "For a web page, lists the feeds that it links to. Nothing is saved.")

  @Argument(
    help: ArgumentHelp("The feed's URL (http or https), or a file; \"-\" reads standard input.", valueName: "url|file"),
    completion: .file())
  var place: String

  @OptionGroup var trust: TrustOptions

  @Option(
    help: ArgumentHelp("Time limit for the request. (default: 30s)", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var timeout = DurationArgument(.seconds(30))

  @Option(help: ArgumentHelp("Output format: text, or one line of JSON.", valueName: "text|json"))
  var format = OutputFormat.text

  @OptionGroup var log: LogOptions

  func run() throws {
    let address = place.contains("://") ? try FeedAddress.parse(place, hintsAtFiles: false) : nil
    let session = Session(log)
    let worker = SerialWorker(on: session.loop)
    let (format, style) = (format, session.outputStyle)
    let answer = document(at: address, on: session, worker)
      .flatMap { document in
        worker.publisher { () throws(InspectionError) -> String in
          let inspection = try Inspection(of: document)
          return format == .json ? inspection.json : inspection.text(style)
        }
      }
    session.run(answer) {
      $0
    } ended: { completion in
      guard case .failure(let error) = completion else { return }
      session.fail("\(error)".printable)
      if case .document = error, let address {
        session.console.hint("\"feed get --include \(address.shown.shellWord) | less\" shows what the server sends")
      }
    }
    try session.finish()
  }

  private func document(
    at address: URL?, on session: Session, _ worker: SerialWorker
  ) -> AnyPublisher<WebDocument, InspectionError> {
    if let address {
      let client = ObservedClient(client: trust.client(on: session.loop), log: session.log)
      return client.get(HTTPRequest(address, timeout: timeout.duration))
        .asDocument()
        .map { document in
          var document = document
          document.feed = address
          return document
        }
        .mapError(InspectionError.remote)
        .eraseToAnyPublisher()
    }
    let isInput = place == "-"
    let file = URL(fileURLWithPath: isInput ? "/dev/stdin" : place)
    let url = FeedAddress.completed(place)
    // The place may be a mistyped URL with a password.
    let isPath = place.hasPrefix("/") || place.hasPrefix(".")
    let shown = isInput || isPath ? file.path : URL(fileURLWithPath: place.withoutPossiblePassword).path
    return worker.publisher { () throws(InspectionError) in
      do {
        let body = try isInput ? FileHandle.standardInput.readToEnd() ?? Data() : Data(contentsOf: file)
        return WebDocument(body: body, url: file)
      } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
        throw .file(shown, error.systemReason + (url.map { ". If it is a URL, write \($0.printable)" } ?? ""))
      } catch {
        throw .file(file.path, error.systemReason)
      }
    }
  }
}

/// The reason why there is nothing to inspect.
enum InspectionError: Error, CustomStringConvertible {
  case remote(RemoteFeedError)
  case file(String, String)
  /// The document can't be inspected. `file` is its path, if it is a file.
  case document(InvalidData, file: String?)

  var description: String {
    switch self {
    case .remote(let error): "\(error)"
    case .file(let path, let reason): "cannot read \(path): \(reason)"
    case .document(.listOfFeeds, let path?):
      "\(InvalidData.listOfFeeds.description(ofFile: path)) \(WrongPlaceAdvice.uses(ofList: path))"
    case .document(.listOfFeeds, nil): "\(InvalidData.listOfFeeds) \(WrongPlaceAdvice.adviceOnRemoteList)"
    case .document(let error, let path?): error.description(ofFile: path)
    case .document(let error, nil): "\(error)"
    }
  }
}
