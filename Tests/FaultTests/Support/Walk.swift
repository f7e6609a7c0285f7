import Foundation
import ImageFeed
import TestSupport
import Testing

/// A load and save of the real `feed` that is done again and again, each time with the next of its system calls going
/// wrong, until there is no next.
struct Walk: Sendable, CustomTestStringConvertible {
  /// The state that the load finds.
  enum Start: String, Sendable {
    /// No file, and no folder.
    case nothing
    /// A file with an older feed.
    case saved
    /// The same, and the log of a process that was killed.
    case killed
    /// No database.
    case damaged

    /// The generations that are saved before, and starred.
    var known: [Int] {
      switch self {
      case .nothing, .damaged: []
      case .saved: [Walk.old]
      case .killed: [Walk.old - 1]
      }
    }
  }

  /// The command that is run.
  enum Command: String, Sendable {
    case load
    /// `feed star`, of the second image of what is saved.
    case star
    /// `feed search`, which makes the index of words.
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

  /// How a run ended.
  struct Attempt: CustomStringConvertible {
    let number: Int
    /// The call that went wrong, if the run came so far.
    let call: String?
    let ending: FeedBinary.Ending
    /// The number of the generation saved then.
    var saved: Int?
    /// True when the second image has a star then.
    var isStarred = false

    var description: String {
      "\(call ?? "no fault"): status \(ending.status), saved \(saved.map { "\($0)" } ?? "nothing"); \(ending.errors)"
    }
  }

  /// - Returns: every run that came as far as its fault.
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
    // No server is asked: of what is starred only the image's URL is known.
    case .star: ["star", "--offline", "\(Generation.images(Self.old)[1].id)"]
    case .search: ["search", "\(Self.old)"]
    }
  }

  /// Notes if there is a star, which is taken away before the rest is looked at.
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
      try Data(repeating: 0xA5, count: 10_000).write(to: URL(filePath: cache.path))
    }
  }
}

extension CacheUnderTest {
  /// Leaves what a process leaves that is killed after it saved: the log with the save in it, and the index to it.
  fileprivate func saveAndBeKilled(_ number: Int) throws {
    let elsewhere = CacheUnderTest("\(folder)-before", url.absoluteString)
    try elsewhere.save(number - 1)
    try elsewhere.withOpenLog(saving: number) {
      try FileManager.default.copyItem(atPath: elsewhere.folder, toPath: folder)
    }
    try FileManager.default.removeItem(atPath: elsewhere.folder)
  }
}
