import Foundation
import ImageFeed
import TestSupport
import Testing

/// A load and save of the real `feed` that is repeated; in each run the next system call fails, until there is no
/// further call.
struct Walk: Sendable, CustomTestStringConvertible {
  /// The state that the load finds.
  enum Start: String, Sendable {
    /// No file, and no folder.
    case nothing
    /// A file with an older feed.
    case saved
    /// The same, with the log of a killed process.
    case killed
    /// A damaged file that is recognizable as a cache.
    case damaged

    /// The generations that were saved and starred before.
    var known: [Int] {
      switch self {
      case .nothing, .damaged: []
      case .saved: [Walk.old]
      case .killed: [Walk.old - 1]
      }
    }
  }

  /// The command that runs.
  enum Command: String, Sendable {
    case load
    /// `feed star`, for the second image of the saved feed.
    case star
    /// `feed search`, which creates the word index.
    case search
  }

  var start: Start
  var kind: Faults.Kind
  var lasts = false
  var calls = Faults.Calls.changes
  var command = Command.load

  var testDescription: String {
    "\(command.rawValue): \(start.rawValue), \(kind.rawValue)\(lasts ? " from then on" : "")\(calls == .all ? ", all calls" : "")"
  }

  static let old = 1
  static let new = 2

  /// The result of a run.
  struct Attempt: CustomStringConvertible {
    let number: Int
    /// The call that failed, if the run reached it.
    let call: String?
    let ending: FeedBinary.Ending
    /// The number of the generation that is saved afterwards.
    var saved: Int?
    /// True when the second image has a star afterwards.
    var isStarred = false

    var description: String {
      "\(call ?? "no fault"): status \(ending.status), saved \(saved.map { "\($0)" } ?? "nothing"); \(ending.errors)"
    }
  }

  /// - Returns: every run that reached its fault.
  func attempts(in folder: String, at url: String) async throws -> [Attempt] {
    var reached: [Attempt] = []
    let width = 4
    while true {
      let batch = try await withThrowingTaskGroup(of: Attempt.self) { group in
        for number in (reached.count + 1)...(reached.count + width) {
          group.addTask { try await attempt(number, "\(folder)/\(number)", url) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      reached += batch.filter { $0.call != nil }.sorted { $0.number < $1.number }
      if batch.contains(where: { $0.call == nil }) { return reached }
    }
  }

  private func attempt(_ number: Int, _ folder: String, _ url: String) async throws -> Attempt {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let cache = CacheUnderTest("\(folder)/cache", url)
    try prepare(cache)
    let faults = Faults(
      folder: cache.folder, calls: calls, number: number, kind: kind, lasts: lasts, log: "\(folder)/log")
    let ending = try await FeedBinary.run(
      words(url) + ["--cache", cache.path, "--format", "json"], environment: faults.environment)
    do {
      if command == .star { return try starred(Attempt(number: number, call: faults.call, ending: ending), cache) }
      let saved = try cache.examine(mayBeDamaged: start == .damaged, knowing: start.known)
      return Attempt(number: number, call: faults.call, ending: ending, saved: saved)
    } catch {
      throw CacheUnderTest.Damage(description: "after \(faults.call ?? "no fault"): \(error); \(ending)")
    }
  }

  private func words(_ url: String) -> [String] {
    switch command {
    case .load: ["load", url]
    // No request is made: only the URL of the starred image is known.
    case .star: ["star", "--offline", "\(Generation.images(Self.old)[1].id)"]
    case .search: ["search", "\(Self.old)"]
    }
  }

  /// Records if there is a star, and removes it before the other checks.
  private func starred(_ attempt: Attempt, _ cache: CacheUnderTest) throws -> Attempt {
    var attempt = attempt
    let (store, id) = (SQLiteFeedStore(path: cache.path), Generation.images(Self.old)[1].id)
    attempt.isStarred = try store.stars(of: cache.url).contains(id)
    _ = try store.setStar(false, id, of: cache.url, now: Date())
    store.close()
    attempt.saved = try cache.examine(knowing: start.known)
    return attempt
  }

  private func prepare(_ cache: CacheUnderTest) throws {
    switch start {
    case .nothing: break
    case .saved: try cache.save(Self.old)
    case .killed: try cache.saveAndBeKilled(Self.old)
    case .damaged:
      try cache.save(Self.old)
      let file = URL(filePath: cache.path)
      // The header has the mark by which a cache is recognized.
      try (Data(contentsOf: file).prefix(100) + Data(repeating: 0xA5, count: 10_000)).write(to: file)
    }
  }
}

extension CacheUnderTest {
  /// Leaves the files of a process that is killed after a save: the log with the save, and the log's index.
  fileprivate func saveAndBeKilled(_ number: Int) throws {
    let elsewhere = CacheUnderTest("\(folder)-before", url.absoluteString)
    try elsewhere.save(number - 1)
    try elsewhere.withOpenLog(saving: number) {
      try FileManager.default.copyItem(atPath: elsewhere.folder, toPath: folder)
    }
    try FileManager.default.removeItem(atPath: elsewhere.folder)
  }
}
