public import FeedFormats
public import Foundation

/// A list of subscriptions in a file, as OPML, which other readers understand and a person can edit.
///
/// Calls block. Changes by several processes come one after another, and a reader sees the list before a change or after
/// it: it is written next to the file and renamed.
public struct SubscriptionFile: Sendable {
  /// The absolute path of the file.
  public let path: String
  private let file: CacheFile

  public init(path: String) {
    file = CacheFile(path: path)
    self.path = file.path
  }

  /// The list next to a cache file: `feeds.opml` next to `feeds.db`.
  public init(besideCacheAt path: String) {
    self.init(path: URL(fileURLWithPath: path).deletingPathExtension().path + ".opml")
  }

  /// The list; `nil` when there is no file.
  public func read() throws(SubscriptionFileError) -> OPML? {
    let bytes: Data
    do {
      bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      return nil
    } catch {
      throw .unreadable(path, (error as NSError).localizedDescription)
    }
    do throws(FeedFormatError) {
      return try OPML(parsing: [UInt8](bytes))
    } catch {
      throw .notAList(path, error)
    }
  }

  /// Changes the list; a missing one is empty. If `change` changes nothing, nothing is written.
  public func update<R>(_ change: (inout OPML) -> R) throws(SubscriptionFileError) -> R {
    do {
      try file.createFolder()
      return try file.withFolderLock(exclusively: true, patience: .seconds(10)) {
        let old = try read()
        var list = old ?? OPML(title: "Subscriptions")
        let result = change(&list)
        if list != old { try write(list) }
        return result
      }
    } catch let error as SubscriptionFileError {
      throw error
    } catch {
      throw .unwritable(path, "\(FeedDatabaseFailure(error).cause)")
    }
  }

  /// For this user alone: addresses may hold secrets.
  private func write(_ list: OPML) throws {
    let new = "\(path).new-\(getpid())"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      try handle.write(contentsOf: Data(list.document.utf8))
      try handle.synchronize()
      guard rename(new, path) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    } catch {
      unlink(new)
      throw error
    }
  }
}

/// The reason why a list of subscriptions could not be read or changed.
public enum SubscriptionFileError: Error, Hashable, Sendable {
  case unreadable(String, String)
  /// It is no OPML, or too much of it.
  case notAList(String, FeedFormatError)
  case unwritable(String, String)
}

extension SubscriptionFileError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .unreadable(let path, let reason): "\(path) cannot be read: \(reason)"
    case .notAList(let path, .notAFeed), .notAList(let path, .empty):
      "\(path) is not a list of subscriptions (OPML)."
    case .notAList(let path, let error): "\(path) is not a list of subscriptions that can be read: \(error)."
    case .unwritable(let path, let reason): "\(path) cannot be written: \(reason)"
    }
  }

  public var errorDescription: String? { description }
}
