import Foundation
import ImageFeed

/// Why there is no feed to show, with what is known of the saved one.
struct NothingToShow {
  let address: URL
  let error: FeedError
  let maxAge: Duration?
  let saved: Saved

  /// What the cache had.
  enum Saved: Equatable {
    case nothing
    /// Too old to be shown.
    case expired(age: Duration, Fate)
    /// The cache was not to be asked after this failure; how old what it has is.
    case notWanted(age: Duration?)
    case unreadable(FeedStoreError)
  }

  /// What became of a saved feed that had expired.
  enum Fate: Equatable {
    case deleted, kept
    /// It should have been deleted, and this came between.
    case stuck(FeedStoreError)
  }
}

extension NothingToShow {
  /// What happened, on both sides, and what to try.
  func text(_ style: Style) -> String {
    """
    \(style.bad("No feed to show")) for \(address.absoluteString.printable)
      server: \("\(error.remote)".printable)
      cache:  \(cacheLine.printable)
      try:    \(advice)

    """
  }

  private var cacheLine: String {
    switch saved {
    case .nothing: "nothing is saved for this address"
    case .expired(let age, let fate):
      "the feed saved \(age.ago) has expired (--max-age \(maxAge?.text ?? "none"))\(Self.words(for: fate))"
    case .notWanted(nil): "not asked (--fallback connectivity); nothing is saved for this address"
    case .notWanted(let age?): "not asked (--fallback connectivity); a feed saved \(age.ago) is there"
    case .unreadable(let error): "\(error)"
    }
  }

  private static func words(for fate: Fate) -> String {
    switch fate {
    case .deleted: " and is deleted"
    case .kept: ""
    case .stuck(let error): ". \(error)"
    }
  }

  private var advice: String {
    switch saved {
    case .nothing: "again when the server can be had; the feed is then saved for times like this"
    case .expired(_, .deleted):
      "again when the server can be had; a longer --max-age, or \"none\" for any age, keeps a saved feed for such times"
    case .expired(_, .kept), .expired(_, .stuck): "a longer --max-age, or \"none\" for any age, shows the saved feed"
    case .notWanted(nil): "again when the server is well"
    case .notWanted: "--fallback any shows the saved feed"
    case .unreadable: "again when the server can be had, or another file with --cache"
    }
  }
}
