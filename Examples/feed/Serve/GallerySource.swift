import Foundation
import ImageFeed
import PlainText

/// The feeds of a gallery, and how each is.
extension Gallery {
  /// A feed to follow.
  struct Name {
    let address: URL
    let title: String?
    /// How often it is requested at most, if its list says so.
    var interval: Duration?
    /// The folders that it is in, the outermost first.
    var folders: [String] = []
  }

  /// Where a feed's images are from.
  enum Origin {
    case loading
    case server
    /// The saved feed, because it is not time to ask the server again.
    case kept(Date, reason: String)
    case saved(Date, reason: String)
    /// The part that arrived of a feed that is cut off, since nothing is saved.
    case part(reason: String)
    case nowhere(reason: String)
  }

  struct Source {
    let address: URL
    /// The name that a list gave it, or else its own, or that of its host.
    var name: String
    /// The folders that it is in, the outermost first.
    var folders: [String]
    var isNamed: Bool
    /// True when it has been there once: what comes from then on is new.
    var isKnown = false
    var origin = Origin.loading
    var entries: [Entry] = []
    var images: FeedImages = []
    var checked: Date?
    var checks = 0
    var failures = 0
    /// That of a feed that somebody else polls, while nothing is wrong with whom it is heard of from.
    var usual = Origin.server
    /// When it failed for the first time after it was all right, as far as this run knows; `nil` while it does not fail.
    var failingSince: Date?
    /// True when its server answers with something that is not the feed.
    var answers = false

    init(_ name: Name) {
      let port = name.address.port.map { ":\($0)" } ?? ""
      let title = name.title ?? name.address.host.map { $0 + port } ?? name.address.absoluteString
      (address, isNamed, folders) = (name.address, name.title != nil, name.folders)
      self.name = title.printable(limit: 100)
    }

    /// Shows this result from now on; its images are shown by somebody else.
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

    /// Takes the name and the folders that a list gives it now; without a name, the next load names it.
    mutating func rename(to name: Name) {
      (isNamed, folders) = (name.title != nil, name.folders)
      if let title = name.title { self.name = title.printable(limit: 100) }
    }

    /// True until there is something to show, or a reason why not.
    var isLoading: Bool { if case .loading = origin { true } else { false } }

    /// True for what arrived of a feed that is cut off.
    var isPart: Bool { if case .part = origin { true } else { false } }

    /// Notes since when it fails.
    mutating func noteTrouble(at date: Date) {
      failingSince = trouble == nil ? nil : failingSince ?? date
      if trouble == nil { answers = false }
    }

    /// Why there is nothing from its server, if so.
    var trouble: String? {
      switch origin {
      case .loading, .server, .kept: nil
      case .saved(_, let reason), .part(let reason), .nowhere(let reason): reason
      }
    }
  }
}

extension RemoteFeedError {
  /// True when a response arrived.
  fileprivate var isAnswer: Bool { if case .invalidData = self { true } else { false } }
}
