import FeedStream
import Foundation

@testable import FeedPolling

extension MemoryFleet: UpdateLog {
  /// Numbers are microseconds, so that no number is used again after a failover.
  func note(_ update: FeedUpdate) -> UpdateCursor {
    let previous = state.last
    state.last = max(state.last + 1, Int(now().milliseconds) * 1000)
    state.log.append((state.last, update, previous))
    return UpdateCursor("\(state.last)")
  }

  /// Forgets all but the latest `count` updates.
  func trim(to count: Int) { state.log.removeFirst(max(0, state.log.count - count)) }

  func append(_ update: FeedUpdate) -> AnyPublisher<UpdateCursor, FleetError> {
    call { [self] in note(update) }
  }

  func end() -> AnyPublisher<UpdateCursor, FleetError> {
    call { [self] in UpdateCursor("\(state.last)") }
  }

  func latest(_ count: Int) -> AnyPublisher<[LoggedUpdate], FleetError> {
    call { [self] in
      state.log.suffix(count).map { Self.logged($0) }
    }
  }

  func holds(_ cursor: UpdateCursor) -> AnyPublisher<Bool, FleetError> {
    call { [self] in
      guard let number = Int(cursor.description) else { return false }
      return number == state.last || state.log.contains { $0.cursor == number }
    }
  }

  func updates(after cursor: UpdateCursor) -> AnyPublisher<LoggedUpdate, FleetError> {
    let reader = MemoryReader(Int(cursor.description) ?? 0)
    return Publishers.using { [self] in
      watchers[ObjectIdentifier(reader)] = { [self] in scheduler.schedule { [self] in feed(reader) } }
      return reader
    } dispose: { [self] (reader: MemoryReader) in
      watchers[ObjectIdentifier(reader)] = nil
    } publisher: { [self] (reader: MemoryReader) in
      scheduler.schedule { [self] in feed(reader) }
      return reader.subject.buffer(size: .max, prefetch: .keepFull, whenFull: .dropNewest)
    }
    .eraseToAnyPublisher()
  }

  private func feed(_ reader: MemoryReader) {
    for entry in state.log where entry.cursor > reader.last {
      reader.last = entry.cursor
      reader.subject.send(Self.logged(entry))
    }
  }

  private static func logged(_ entry: State.Entry) -> LoggedUpdate {
    LoggedUpdate(
      cursor: UpdateCursor("\(entry.cursor)"), update: entry.update, previous: UpdateCursor("\(entry.previous)"))
  }
}

private final class MemoryReader {
  let subject = PassthroughSubject<LoggedUpdate, FleetError>(of: "MemoryFleet")
  var last: Int
  init(_ last: Int) { self.last = last }
}

extension MemoryFleet: FeedLibrary {
  func feeds(_ addresses: [URL], withImages: Bool) -> AnyPublisher<[FleetFeed?], FleetError> {
    call { [self] in addresses.map { feed($0) } }
  }

  func addresses() -> AnyPublisher<[URL], FleetError> { call { [self] in Array(state.homes.keys) } }

  func edition() -> AnyPublisher<String, FleetError> { call { [self] in "\(state.edition)" } }
}
