public import Foundation
import PlainText

/// A failure of a store: its step, its cause and the store's location.
public enum FeedStoreError: Error, Hashable, Sendable {
  /// Nothing could be read.
  case retrieval(Cause, place: String)
  /// The old feed could not be deleted, and is intact.
  case deletion(Cause, place: String)
  /// The new feed could not be saved. The old one is intact.
  case insertion(Cause, place: String)

  /// The steps of a store.
  public enum Step: Hashable, Sendable {
    /// Reading a feed, or the table of contents.
    case retrieval
    /// Removing an old feed, on its own or as the first half of a replacement.
    case deletion
    /// Writing a new feed.
    case insertion
  }

  /// The error for a step.
  public init(_ step: Step, _ cause: Cause, place: String) {
    self =
      switch step {
      case .retrieval: .retrieval(cause, place: place)
      case .deletion: .deletion(cause, place: place)
      case .insertion: .insertion(cause, place: place)
      }
  }

  /// The cause of a failure.
  public enum Cause: Hashable, Sendable {
    /// No space is left, or a limit on file size has been reached.
    case diskFull
    /// The file or its folder may not be read or written; for SQLite, its file system may also be read-only.
    case notPermitted
    /// The file system is read-only.
    case readOnly
    /// Other processes used the file for longer than a call waits.
    case busy
    /// The file, or this feed in it, is damaged or not a cache at all.
    case damaged(String)
    /// A newer version of the program wrote the file, in a schema that this version does not support.
    case newerSchema(Int)
    /// An older version of the program wrote the file, in a schema that this version no longer supports.
    case olderSchema(Int)
    /// The file isn't this program's cache: it is another program's database, or not a database at all.
    case foreign
    /// The operating system failed to read or write; the text is the database's message.
    case inputOutput(String)
    /// The path refers to a folder, a pipe or a device.
    case notAFile
    /// Anything else, in the database's words.
    case other(String)
  }

  /// The cause.
  public var cause: Cause {
    switch self {
    case .retrieval(let cause, _), .deletion(let cause, _), .insertion(let cause, _): cause
    }
  }

  /// The file, or the store's own name for its location.
  public var place: String {
    switch self {
    case .retrieval(_, let place), .deletion(_, let place), .insertion(_, let place): place
    }
  }
}

extension FeedStoreError: CustomStringConvertible, LocalizedError {
  /// One sentence about the failure, and one about the remedy if there is one.
  public var description: String {
    let what =
      switch self {
      case .retrieval: "Cannot read \(place.printable)"
      case .deletion: "Cannot delete from \(place.printable)"
      case .insertion: "Cannot save to \(place.printable)"
      }
    // If the place is a server's URL, the remedies for files don't apply.
    return "\(what): \(place.contains("://") ? cause.onServer : cause.description)"
  }

  /// Same as ``description``.
  public var errorDescription: String? { description }
}

extension FeedStoreError.Cause: CustomStringConvertible {
  /// The cause, and the remedy if there is one, worded to follow a colon.
  public var description: String {
    switch self {
    case .diskFull:
      "the disk is full, or a quota or size limit is reached. Free some space, or choose a file on another disk."
    case .notPermitted:
      "permission denied, or a read-only file system. Allow access to the file and its folder, or choose another file."
    case .readOnly: "the file system is read-only. Choose a file on another one."
    case .busy: "another process has locked it. Try again when that process is done."
    case .damaged(let detail):
      "it is damaged (\(detail.printable)). The next save replaces the damaged feed, or renames the file and starts a new "
        + "one."
    case .newerSchema(let version):
      "a newer version of this program wrote it (schema \(version)). Update this program, or choose another cache file."
    case .olderSchema(let version):
      "an older version of this program wrote it (schema \(version)), and this version can't read it. Move the file elsewhere, or "
        + "choose another cache file."
    case .foreign: "it isn't a cache that this program wrote, so it was left unchanged. Choose another cache file."
    case .inputOutput(let detail):
      "the system failed to read or write it (\(detail.printable)). Check the path and the disk."
    case .notAFile: "it is not a file. Choose another file."
    case .other(let detail): "\(detail.printable)."
    }
  }
}

extension FeedStoreError.Cause {
  /// True if the disk may be full. SQLite reports some of these failures as input or output errors.
  package var mayBeFullDisk: Bool {
    switch self {
    case .diskFull, .inputOutput: true
    default: false
    }
  }

  /// True if other files in the same folder may still be readable.
  package var leavesFilesReadable: Bool { mayBeFullDisk || isWriteProtection || self == .busy }

  /// True if the file may not be changed.
  package var isWriteProtection: Bool { self == .notPermitted || self == .readOnly }

  /// The same text, for a store on a server.
  fileprivate var onServer: String {
    switch self {
    case .diskFull: "its memory is full. Raise its limit, or delete keys that aren't needed."
    case .notPermitted:
      "permission denied. Correct the user and the password, or allow that user to read and write there."
    case .damaged(let detail): "it is damaged (\(detail.printable)). The next save of the feed replaces it."
    case .newerSchema(let version):
      "a newer version of this program wrote it (schema \(version)). Update this program, or choose another database."
    case .foreign: "it belongs to another program, so it was left unchanged. Choose another database."
    case .olderSchema(let version):
      "an older version of this program wrote it (schema \(version)), and this version can't read it. Choose another database."
    case .readOnly, .busy, .inputOutput, .notAFile, .other: description
    }
  }
}
