import FeedPolling
import Foundation
import ImageFeed
import PlainText

/// The feeds of a gallery, and their state.
extension Gallery {
  /// A feed to follow.
  struct Name {
    let address: URL
    let title: String?
    /// The minimum interval between requests, if the feed's list specifies one.
    var interval: Duration?
    /// The folders that contain the feed, outermost first.
    var folders: [String] = []
  }

  /// The origin of a feed's images.
  enum Origin {
    case loading
    case server
    /// The saved feed, because the next request isn't due yet.
    case kept(Date, reason: String)
    case saved(Date, reason: String)
    /// The part of a feed that arrived before it was cut off; there is no saved feed to show instead.
    case part(reason: String)
    case nowhere(reason: String)
  }

  struct Source {
    let address: URL
    /// The name in a list, or else the feed's own, or else its host.
    var name: String
    /// The folders that contain the feed, outermost first.
    var folders: [String]
    var isNamed: Bool
    /// True once the feed has been shown: images that arrive later are new.
    var isKnown = false
    var origin = Origin.loading
    var entries: [Entry] = []
    var images: FeedImages = []
    var checked: Date?
    var checks = 0
    var failures = 0
    /// The origin of a feed that another process polls, as long as that process can be reached.
    var usual = Origin.server
    /// The time when this run first noticed the feed's current failure; `nil` while the feed isn't failing.
    var failingSince: Date?
    /// True if the feed's server responds, but not with the feed.
    var answers = false

    init(_ name: Name) {
      (address, isNamed, folders) = (name.address, name.title != nil, name.folders)
      self.name = (name.title ?? Self.host(of: name.address)).printable(limit: 100)
    }

    /// The host with its port, which is the name of a feed without a title.
    private static func host(of address: URL) -> String {
      let port = address.port.map { ":\($0)" } ?? ""
      return address.host.map { $0 + port } ?? address.absoluteString
    }

    /// The name to show with a failure: the URL if the name is only the host, some of whose feeds load.
    func failingName(among sources: [Source]) -> String {
      let host = address.pollingHost
      guard name == Self.host(of: address).printable(limit: 100),
        sources.contains(where: { $0.trouble == nil && $0.address.pollingHost == host })
      else { return name }
      return address.shown
    }

    /// Records a new result. The images are shown separately.
    mutating func take(_ result: FeedResult) {
      switch result {
      case .success(let feed):
        switch feed.source {
        case .remote: origin = .server
        case .cache(let savedAt, _, .notDue(let due, let reason)):
          origin = .kept(savedAt, reason: "\(RemoteFeedError.notDue(until: due, reason))".printable(limit: 300))
        case .cache(let savedAt, _, let reason):
          origin = .saved(savedAt, reason: "\(reason)".printable(limit: 300))
          answers = reason.isAnswer
        case .part(let reason): origin = .part(reason: "\(reason)".printable(limit: 300))
        }
      case .failure(let error):
        origin = .nowhere(reason: "\(error)".printable(limit: 300))
        answers = error.remote.isAnswer
      }
    }

    /// Uses the current name and folders from a list, and the feed's own title if the list no longer has one.
    mutating func rename(to name: Name) {
      let wasNamed = isNamed
      (isNamed, folders) = (name.title != nil, name.folders)
      guard isNamed || wasNamed else { return }
      self.name = Source(name).name
      takeTitle(of: images)
    }

    /// Uses the feed's own title, unless the list names the feed. It may change while the images stay the same.
    mutating func takeTitle(of images: FeedImages) {
      if !isNamed, let title = images.title, !title.isEmpty { name = title.printable(limit: 100) }
    }

    /// True until there is something to show, or a reason why there isn't.
    var isLoading: Bool { if case .loading = origin { true } else { false } }

    /// True for part of a feed that was cut off.
    var isPart: Bool { if case .part = origin { true } else { false } }

    /// Records when a failure began.
    mutating func noteTrouble(at date: Date) {
      failingSince = trouble == nil ? nil : failingSince ?? date
      if trouble == nil { answers = false }
    }

    /// The reason why the server's feed is unavailable; `nil` if the feed is available.
    var trouble: String? {
      switch origin {
      case .loading, .server, .kept: nil
      case .saved(_, let reason), .part(let reason), .nowhere(let reason): reason
      }
    }
  }
}

extension RemoteFeedError {
  /// True unless it is certain that no response arrived. After a restart, only the next request shows why a feed fails.
  fileprivate var isAnswer: Bool {
    switch self {
    case .invalidData, .notDue: true
    default: false
    }
  }
}
