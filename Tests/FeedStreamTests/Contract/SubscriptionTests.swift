import Foundation
import TestSupport
import Testing

/// Checks, in the text of the sources, that every subscription of this library uses one shared check.
@Suite(.settled) struct SubscriptionTests {
  /// Subscriptions that need not be a `GuardedSubscription`.
  static let others: Set = [
    // These pass everything on to a `GuardedSubscription`.
    "Sources/FeedStream/Core/Diagnostics/Probe.swift",
    "Sources/FeedStream/Engine/Crossing/HomeBoundSubscriber.swift",
    "Sources/FeedStream/Engine/Crossing/HomeSubscriber.swift",
    "Sources/FeedStream/Engine/Subscriptions/DetachableSubscription.swift",
    "Sources/FeedStreamTracing/InContext.swift",
    // These break rules on purpose, or record violations.
    "Sources/FeedStreamTesting/Scripted/Misbehavior.swift",
    "Sources/FeedStreamTesting/Scripted/SubscriptionRecord.swift",
    // These belong to pollers.
    "Sources/FeedFleet/Gateway/FollowingRun.swift",
    "Sources/FeedPolling/Poller/PollingRun.swift", "Sources/FeedPolling/Worker/WorkingRun.swift",
  ]

  @Test func `every type of subscription is guarded`() throws {
    let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    var count = 0
    for folder in ["Sources", "Examples"] {
      let place = root.appending(path: folder).path
      for path in try FileManager.default.subpathsOfDirectory(atPath: place) where path.hasSuffix(".swift") {
        count += 1
        let text = try String(contentsOfFile: "\(place)/\(path)", encoding: .utf8)
        let code = text.replacing(/\/\/[^\n]*/, with: "")
        let declarations = code.matches(
          of: /\b(?:class|struct|enum|actor|extension)\b[^{=]*?:[^{=]*?\bSubscription\b[^{=]*\{/)
        if declarations.isEmpty || Self.others.contains("\(folder)/\(path)") { continue }
        if path == "FeedStream/Core/GuardedSubscription.swift" { continue }
        Issue.record(
          "\(folder)/\(path): use a subclass of GuardedSubscription, or PullSubscription outside of FeedStream")
      }
    }
    #expect(count > 500)
  }
}
