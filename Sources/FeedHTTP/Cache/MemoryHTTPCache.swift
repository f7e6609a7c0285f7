public import FeedStream
import Foundation

/// Keeps responses in memory, up to a maximum number of bytes; the least recently used are deleted first.
public final class MemoryHTTPCache: HTTPCacheStore {
  private struct Entry {
    var response: HTTPStoredResponse
    /// The number of the entry's last use, in the sequence of all uses.
    var used: Int
  }

  /// The maximum number of bytes kept, as ``HTTPStoredResponse/byteCount`` counts them.
  public let capacity: Int
  /// The number of bytes kept.
  public private(set) var byteCount = 0
  @exclusivity(unchecked) private var entries: [String: [Entry]] = [:]
  // All uses, in order; only the last use of each entry counts.
  @exclusivity(unchecked) private var uses: [(key: String, used: Int)] = []
  private var firstUse = 0
  private var clock = 0

  /// - Parameter capacity: the maximum number of bytes kept; 16 MiB by default.
  public init(capacity: Int = 16 << 20) { self.capacity = capacity }

  /// The number of responses kept.
  public private(set) var count = 0

  public func responses(
    for key: String, where isWanted: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool
  ) -> AnyPublisher<[HTTPStoredResponse], HTTPCacheError> {
    Deferred { [self] in
      Just(take(key, where: isWanted)).setFailureType(to: HTTPCacheError.self)
    }
    .eraseToAnyPublisher()
  }

  public func change(
    _ key: String, where isMeant: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool, to change: HTTPCacheChange
  ) -> AnyPublisher<Never, HTTPCacheError> {
    Deferred { [self] in
      apply(change, to: key, where: isMeant)
      return Empty<Never, HTTPCacheError>()
    }
    .eraseToAnyPublisher()
  }

  private func take(_ key: String, where isWanted: (HTTPStoredResponse.Head) -> Bool) -> [HTTPStoredResponse] {
    guard let kept = entries[key] else { return [] }
    var found: [HTTPStoredResponse] = []
    for (index, entry) in kept.enumerated() where isWanted(entry.response.head) {
      entries[key]![index].used = use(key)
      found.append(entry.response)
    }
    return found
  }

  private func apply(_ change: HTTPCacheChange, to key: String, where isMeant: (HTTPStoredResponse.Head) -> Bool) {
    var kept = entries[key] ?? []
    let meant = kept.filter { isMeant($0.response.head) }.map(\.response)
    if case .freshen = change, meant.isEmpty { return }
    kept.removeAll { isMeant($0.response.head) }
    byteCount -= meant.reduce(0) { $0 + $1.byteCount }
    count -= meant.count
    var added: HTTPStoredResponse?
    switch change {
    case .remove: break
    case .save(let response): added = response
    case .freshen(let head):
      added = meant.max { $0.head.received < $1.head.received }.map { HTTPStoredResponse(head: head, body: $0.body) }
    }
    if let added, added.byteCount <= capacity {
      byteCount += added.byteCount
      count += 1
      kept.append(Entry(response: added, used: use(key)))
    }
    entries[key] = kept.isEmpty ? nil : kept
    evict()
  }

  private func use(_ key: String) -> Int {
    clock += 1
    if uses.count > 64 + 4 * count {
      let last = Set(entries.values.joined().map(\.used))
      uses = uses[firstUse...].filter { last.contains($0.used) }
      firstUse = 0
    }
    uses.append((key, clock))
    return clock
  }

  private func evict() {
    while byteCount > capacity, firstUse < uses.count {
      let (key, used) = uses[firstUse]
      firstUse += 1
      guard let index = entries[key]?.firstIndex(where: { $0.used == used }) else { continue }
      byteCount -= entries[key]![index].response.byteCount
      entries[key]!.remove(at: index)
      count -= 1
      if entries[key]!.isEmpty { entries[key] = nil }
    }
  }
}
