import FeedPolling
import Foundation
import ImageFeed

/// An explanation as one line of JSON, with sorted keys. Times are ISO 8601 in UTC.
enum ExplanationJSON {
  private struct Document: Encodable {
    struct Saved: Encodable {
      var at: Date
      var images: Int
      var etag: String?
      var lastModified: String?
    }

    struct Host: Encodable {
      var name: String
      var pausedUntil: Date?
      var reason: String?
      var secondsBetweenRequests: Double?
      var refusals: Int?
      var requestsLeft: Double?
      var requestLimit: Double?
    }

    struct Push: Encodable {
      var hub: String
      var until: Date?
      var announced: Date?
      var trouble: String?
    }

    struct Move: Encodable {
      var to: String
      var since: Date
      var believed: Bool
    }

    var address: String
    var saved: Saved?
    var asked: Date?
    var outcome: String?
    var failures: Int
    var due: Date?
    var rule: String?
    var reason: String?
    var gone: Bool
    var move: Move?
    var push: Push?
    var host: Host?
    var decisions: [PollDecision]
  }

  static func line(_ explanation: FeedExplanation, now: Date) -> String {
    let health = explanation.health
    let pause = explanation.host?.pausedUntil.flatMap { $0 > now ? $0 : nil }
    let document = Document(
      address: explanation.address.withoutPassword,
      saved: explanation.saved.map {
        .init(
          at: $0.timestamp, images: $0.imageCount, etag: $0.validators.etag, lastModified: $0.validators.lastModified)
      },
      asked: health?.asked, outcome: health?.outcome, failures: health?.failures ?? 0, due: health?.due,
      rule: health?.rule?.rawValue, reason: health?.reason, gone: health?.isGone ?? false,
      move: health?.move.map { .init(to: $0.to.withoutPassword, since: $0.since, believed: $0.isBelieved) },
      push: health?.hub.map { hub in
        let push = health?.push
        return .init(
          hub: hub.hub.withoutPassword, until: push?.until, announced: push?.announced,
          trouble: push.flatMap { $0.trouble.isEmpty ? nil : $0.trouble })
      },
      host: explanation.host.map { host in
        .init(
          name: host.name, pausedUntil: pause, reason: pause == nil ? nil : host.reason,
          secondsBetweenRequests: host.pace?.gap, refusals: host.pace.flatMap { $0.refusals > 0 ? $0.refusals : nil },
          requestsLeft: host.pace?.quota?.remaining, requestLimit: host.pace?.quota?.limit)
      },
      decisions: explanation.decisions)
    return FeedJSON.harmless(encoded(document, keys: .useDefaultKeys)) + "\n"
  }
}
