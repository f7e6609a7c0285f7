import FeedStream

/// Runs a test in virtual time, and fails it if there are leftovers at its end: unread events, live or missing
/// subscriptions, subscribers that are still retained, or pending work. There is one failure per line where such
/// objects were made. Consequences of a failed expectation are not reported.
///
///     @Test func `a search waits until typing pauses`() {
///       withVirtualTime { time in
///         let search = time.hot("ab 500ms |")
///         let recorder = search.debounce(for: 0.3, scheduler: time).record(on: time)
///         time.run()
///         recorder.expect("- 301ms b 200ms |")
///       }
///     }
@discardableResult public func withVirtualTime<R>(
  order: VirtualTimeScheduler.Order = .scheduled, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
  line: UInt = #line, column: UInt = #column, _ body: (VirtualTimeScheduler) throws -> R
) rethrows -> R {
  let time = VirtualTimeScheduler(order: order)
  time.audit.begin()
  defer { time.audit.end() }
  let result = try body(time)
  time.close(CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  return result
}

/// Runs an asynchronous test in virtual time, and fails it if there are leftovers at its end.
@discardableResult public func withVirtualTime<R>(
  order: VirtualTimeScheduler.Order = .scheduled, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
  line: UInt = #line, column: UInt = #column, isolation: isolated (any Actor)? = #isolation,
  _ body: (VirtualTimeScheduler) async throws -> R
) async rethrows -> R {
  let time = VirtualTimeScheduler(order: order)
  time.audit.begin()
  defer { time.audit.end() }
  let result = try await body(time)
  time.close(CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  return result
}

/// Runs a test once for each seed, which determines the order of the work that is due at the same instant. Fails the
/// test if there are no seeds.
public func withVirtualTime(
  seeds: some Sequence<UInt64>, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
  line: UInt = #line, column: UInt = #column, _ body: (VirtualTimeScheduler) throws -> Void
) rethrows {
  var hasRun = false
  for seed in seeds {
    hasRun = true
    try withVirtualTime(
      order: .seeded(seed), fileID: fileID, filePath: filePath, line: line, column: column, body)
  }
  guard !hasRun else { return }
  CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    .fail("The test didn't run, because there are no seeds: pass at least one.")
}

extension VirtualTimeScheduler {
  fileprivate func close(_ site: CallSite) {
    let isIdle = hasMoved && pending.isEmpty
    audit.close(isIdle: isIdle, note: seedNote)
    guard !audit.hasFailed else { return }
    var places: [(site: CallSite, work: [PendingWork])] = []
    for work in pending {
      let place = if case .line(let origin) = work.origin { origin } else { site }
      if let index = places.firstIndex(where: { $0.site == place }) {
        places[index].work.append(work)
      } else {
        places.append((place, [work]))
      }
    }
    for (place, work) in places {
      let what =
        work.count == 1
        ? "Work due at \(work[0]) is" : "\(work.count) pieces of work, the first due at \(work[0]), are"
      // The audit has cancelled streams, and thereby resumed tasks that waited for something outside virtual time.
      let isOutside = isIdle && work.allSatisfy { $0.origin == .task }
      let advice =
        isOutside
        ? "no other work is left in virtual time. \(outsideAdvice)"
        : "cancel \(work.count == 1 ? "it" : "them")" + (work.allSatisfy(\.isEndless) ? "." : ", or run() to the end.")
      place.fail("\(what) still pending at the end of the test: \(advice)\(seedNote)")
    }
  }
}
