import FeedHTTP
import FeedStream
import Foundation

/// Shows, on a terminal, the current step of a load that takes more than a second; removes the line when the load has
/// ended.
final class LoadProgress {
  /// The steps of a load.
  enum Step: Equatable {
    case requesting(HTTPProgress)
    case decoding
    case saving
    case drawing

    var text: String {
      switch self {
      case .requesting(.waiting): "waiting for other requests…"
      case .requesting(.lookingUp): "looking up the host…"
      case .requesting(.connecting): "connecting…"
      case .requesting(.securing): "setting up a secure connection…"
      case .requesting(.requesting): "waiting for the response…"
      case .requesting(.receiving(let bytes, let all)):
        "received \(Self.amount(bytes, of: all))…"
      case .requesting(.finished), .decoding: "decoding…"
      case .saving: "saving…"
      case .drawing: "loading images…"
      }
    }

    private static func amount(_ bytes: Int, of all: Int?) -> String {
      let most = max(bytes, all ?? 0)
      let few = most == 1 ? "byte" : "bytes"
      let (unit, name) = most >= 1_000_000 ? (1_000_000.0, "MB") : most >= 1000 ? (1000.0, "kB") : (1.0, few)
      func text(_ bytes: Int) -> String { String(format: unit == 1 ? "%.0f" : "%.1f", Double(bytes) / unit) }
      return all.map { "\(text(bytes)) of \(text($0)) \(name)" } ?? "\(text(bytes)) \(name)"
    }
  }

  private let console: Console
  private let client: CurlHTTPClient
  private var isDelivered = false
  private let hasImages: Bool
  private var timer: LoopTimer?

  /// - Parameter hasImages: true if images are loaded after the feed.
  init(of client: CurlHTTPClient, hasImages: Bool = false, on session: Session) {
    self.hasImages = hasImages
    console = session.console
    self.client = client
    guard console.showsStatus else { return }
    timer = LoopTimer(on: session.loop) { [unowned self] in look() }
    timer?.start(after: .seconds(1))
    session.keep(AnyCancellable { [self] in timer?.close() })
  }

  /// Called when the feed has been decoded and is being written; saving it may not have completed.
  func feedDelivered() { isDelivered = true }

  private func look() {
    let requests = client.progress
    let step = requests.first.map(Step.requesting) ?? (isDelivered ? (hasImages ? .drawing : .saving) : .decoding)
    console.setStatus(requests.count > 1 ? "\(requests.count) requests…" : step.text)
    timer?.start(after: .milliseconds(100))
  }
}
