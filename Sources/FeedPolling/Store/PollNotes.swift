import FeedFormats
import Foundation
import ImageFeed

// A field keeps its number forever; a new field gets the next number.

extension FeedHealth: StoredNote {
  package init?(_ fields: NoteFields.Reader) {
    guard let address = fields.url(1) else { return nil }
    self.init(address: address)
    due = fields.date(2)
    notBefore = fields.date(3)
    interval = fields.number(4)
    rule = fields.text(5).flatMap(Schedule.Rule.init)
    reason = fields.text(6) ?? ""
    asked = fields.date(7)
    askedForAll = fields.date(8)
    hadValidators = fields.flag(9)
    succeeded = fields.date(10)
    changed = fields.date(11)
    changeInterval = fields.number(12)
    failures = max(0, fields.integer(13) ?? 0)
    outcome = fields.text(14) ?? ""
    isGone = fields.flag(15) ?? false
    hints.minutesToLive = fields.integer(16)
    hints.updateInterval = fields.integer(17)
    hints.skippedHours = fields.text(18)?.split(separator: " ").compactMap { Int($0) } ?? []
    hints.skippedDays = fields.text(19)?.split(separator: "\n").map(String.init) ?? []
    if let to = fields.url(20), let since = fields.date(21) {
      move = Move(to: to, since: since, isBelieved: fields.flag(22) ?? false)
      move?.isFromPrivateNetwork = fields.flag(33)
    }
    polls = max(0, fields.integer(23) ?? 0)
    begun = fields.date(24)
    if let hub = fields.url(25), let topic = fields.url(26) {
      self.hub = HubLink(hub: hub, topic: topic)
      self.hub?.isFromPrivateNetwork = fields.flag(32)
    }
    push = PushLease(fields, hub)
  }

  package func put(in fields: inout NoteFields.Writer) {
    fields.put(1, address)
    fields.put(2, due)
    fields.put(3, notBefore)
    fields.put(4, interval)
    fields.put(5, rule?.rawValue)
    fields.put(6, reason)
    fields.put(7, asked)
    fields.put(8, askedForAll)
    fields.put(9, hadValidators)
    fields.put(10, succeeded)
    fields.put(11, changed)
    fields.put(12, changeInterval)
    fields.put(13, failures)
    fields.put(14, outcome)
    fields.put(15, isGone)
    fields.put(16, hints.minutesToLive)
    fields.put(17, hints.updateInterval)
    fields.put(18, hints.skippedHours.map(String.init).joined(separator: " "))
    fields.put(19, hints.skippedDays.joined(separator: "\n"))
    fields.put(20, move?.to)
    fields.put(21, move?.since)
    fields.put(22, move?.isBelieved)
    fields.put(23, polls)
    fields.put(24, begun)
    fields.put(25, hub?.hub)
    fields.put(26, hub?.topic)
    fields.put(32, hub?.isFromPrivateNetwork)
    fields.put(33, move?.isFromPrivateNetwork)
    // A subscription at another hub isn't saved.
    if let push, let hub, push.link.isSame(as: hub) { push.put(in: &fields) }
  }
}

extension HostHealth: StoredNote {
  package init?(_ fields: NoteFields.Reader) {
    guard let name = fields.text(1) else { return nil }
    self.init(name: name)
    pausedUntil = fields.date(2)
    reason = fields.text(3) ?? ""
    next = fields.date(4)
    holder = fields.text(5)
    opensIfLost = fields.date(6)
    pace = HostPace(fields)
  }

  package func put(in fields: inout NoteFields.Writer) {
    fields.put(1, name)
    fields.put(2, pausedUntil)
    fields.put(3, reason)
    fields.put(4, next)
    fields.put(5, holder)
    fields.put(6, opensIfLost)
    pace?.put(in: &fields)
  }
}

extension PollDecision: StoredNote {
  package init?(_ fields: NoteFields.Reader) {
    guard let time = fields.date(1), let rule = fields.text(5).flatMap(Schedule.Rule.init) else { return nil }
    self.init(
      time: time, request: fields.text(2) ?? "", outcome: fields.text(3) ?? "", due: fields.date(4), rule: rule,
      reason: fields.text(6) ?? "")
  }

  package func put(in fields: inout NoteFields.Writer) {
    fields.put(1, time)
    fields.put(2, request)
    fields.put(3, outcome)
    fields.put(4, due)
    fields.put(5, rule.rawValue)
    fields.put(6, reason)
  }
}
