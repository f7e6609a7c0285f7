public import FeedFormats
public import Foundation
import PlainText

/// A list of subscriptions in an OPML file, which other feed readers understand and users can edit.
///
/// Calls block. Changes by several processes are serialized. A reader sees the list as it is either before or after a
/// change, because a new list is written next to the file and then renamed.
public struct SubscriptionFile: Sendable {
  /// The absolute path of the file.
  public let path: String
  private let file: CacheFile

  public init(path: String) {
    file = CacheFile(path: path)
    self.path = file.path
  }

  /// The list next to a cache file, where earlier versions kept it: `feeds.opml` next to `feeds.db`.
  public init(besideCacheAt path: String) {
    self.init(path: URL(fileURLWithPath: path).deletingPathExtension().path + ".opml")
  }

  /// The path of the file itself, even when ``path`` is a symbolic link.
  var resolvedPath: String { file.resolved }

  /// Reads the list; `nil` when there is no file.
  public func read() throws(SubscriptionFileError) -> OPML? {
    let bytes: Data
    do {
      bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      return nil
    } catch {
      throw .unreadable(path, error.systemReason)
    }
    do throws(FeedFormatError) {
      var list = try OPML(parsing: [UInt8](bytes))
      list.declareUsedVocabulary()
      return list
    } catch {
      throw .notAList(path, error)
    }
  }

  /// Changes the list. If the file does not exist, `change` receives an empty list. If `change` changes nothing,
  /// nothing is written. The file is also unchanged, and an error is thrown, if its end is missing, or if the new list
  /// would exceed a limit with which lists are read.
  public func update<R>(_ change: (inout OPML) -> R) throws(SubscriptionFileError) -> R {
    try changingFolder {
      let old = try read()
      let before = old ?? OPML(title: "Subscriptions")
      var list = before
      let result = change(&list)
      guard list != before else { return result }
      // Feeds that haven't arrived would be lost, and the new list would look complete.
      if let old, old.isCutOff { throw SubscriptionFileError.cutOff(path) }
      try write(document(of: list, after: old))
      return result
    }
  }

  /// Writes a list as a new file.
  ///
  /// - Parameter replacing: true to replace an existing file.
  /// - Returns: false, with nothing changed, if the file exists and `replacing` is false.
  public func create(_ list: OPML, replacing: Bool = false) throws(SubscriptionFileError) -> Bool {
    try changingFolder {
      guard replacing || file.identity == nil else { return false }
      if let identity = file.identity, !identity.isRegular { throw FeedDatabaseFailure(.notAFile) }
      try write(document(of: list))
      return true
    }
  }

  /// Moves another list here unchanged, unless this file exists or the other file doesn't.
  ///
  /// - Returns: true if it was moved.
  public func adopt(_ other: SubscriptionFile) throws(SubscriptionFileError) -> Bool {
    guard file.identity == nil, other.file.identity != nil else { return false }
    // Don't move a file that isn't a list: it isn't ours.
    guard try other.read() != nil else { return false }
    return try changingFolder {
      guard file.identity == nil else { return false }
      try write(try Data(contentsOf: URL(fileURLWithPath: other.path)))
      unlink(other.path)
      return true
    }
  }

  /// Runs `body` while no other process changes a list in this folder.
  private func changingFolder<R>(_ body: () throws -> R) throws(SubscriptionFileError) -> R {
    do {
      try file.createFolder()
      return try file.withFolderLock(exclusively: true, patience: .seconds(10), body)
    } catch let error as SubscriptionFileError {
      throw error
    } catch {
      throw .unwritable(path, "\(FeedDatabaseFailure(error).cause)")
    }
  }

  /// The bytes of a list, which can be read again.
  ///
  /// - Parameter old: the list before the change.
  private func document(of list: OPML, after old: OPML? = nil) throws(SubscriptionFileError) -> Data {
    let bytes = [UInt8](list.document.utf8)
    do throws(FeedFormatError) {
      _ = try OPML(parsing: bytes)
    } catch {
      // Name an outline that other software has written, because it prevents every change of the list.
      let name = old?.outline(causing: error).flatMap { outline in
        outline.name ?? outline.webAddress.flatMap { URL(string: $0)?.host() }
      }
      throw .overLimit(path, error, outline: name)
    }
    return Data(bytes)
  }

  /// Writes a file that only the current user can access, because URLs may contain secrets.
  private func write(_ document: Data) throws {
    // Follow a symbolic link, so that the list stays where its owner keeps it.
    let path = file.resolved
    let new = "\(path).new-\(getpid())"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      try handle.write(contentsOf: document)
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
  /// The file isn't OPML, or is too large.
  case notAList(String, FeedFormatError)
  case unwritable(String, String)
  /// The end of the file is missing, so the list wasn't changed.
  case cutOff(String)
  /// The new list would exceed a limit with which lists are read, so it wasn't written. If a single outline exceeds it,
  /// this is the outline's name.
  case overLimit(String, FeedFormatError, outline: String?)
}

extension SubscriptionFileError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .unreadable(let path, let reason): "Cannot read \(path): \(reason)."
    case .notAList(let path, .notAFeed), .notAList(let path, .empty):
      "\(path) is not a list of subscriptions (OPML)."
    case .notAList(let path, .webPage): "\(path) is a web page, not a list of subscriptions (OPML)."
    case .notAList(let path, let error): InvalidData(error).description(ofFile: path)
    case .unwritable(let path, let reason): "Cannot write \(path): \(reason)"
    case .cutOff(let path):
      "\(path) is cut off, so it was not changed. If nothing is missing, add </opml> at its end."
    case .overLimit(let path, let error, let outline):
      "\(path) was not changed, because the new list could not be read again. "
        + InvalidData(error).description(ofFile: "The new list")
        + (outline.map {
          " This is the outline \"\($0.printable(limit: 200))\"; remove it, or shorten it in an editor."
        }
          ?? "")
    }
  }

  public var errorDescription: String? { description }
}
