import Foundation
import TestSupport
import Testing

@testable import FeedPolling
@testable import ImageFeed

@Suite(.settled) struct ProcessMarkTests {
  @Test func `the current process counts as running`() {
    #expect(!ProcessMark.hasEnded(ProcessMark.own))
  }

  @Test func `an ended process counts as ended, even when its number is reused`() throws {
    let parts = ProcessMark.own.split(separator: " ")
    try #require(parts.count == 3)
    // Another process has its number now.
    #expect(ProcessMark.hasEnded("\(parts[0]) \(parts[1]) 1"))
    // No process has this number.
    #expect(ProcessMark.hasEnded("\(parts[0]) 99999999 1"))
  }

  @Test func `a process of another machine, or an unknown one, counts as running`() {
    #expect(!ProcessMark.hasEnded("elsewhere 1 1"))
    #expect(!ProcessMark.hasEnded(""))
  }

  @Test func `a process whose start time can't be read has a mark, and counts as running`() {
    // No process has this number.
    let mark = ProcessMark.mark(withoutStartOf: 99_999_999)
    #expect(!mark.isEmpty && !ProcessMark.hasEnded(mark))
  }

  @Test func `a process of another container counts as running, even if both hosts have the same name`() throws {
    let machine = try #require(ProcessMark.own.split(separator: " ").first)
    try #require(machine.hasSuffix("]"))
    #expect(!ProcessMark.hasEnded("\(machine.dropLast())0] 99999999 1"))
  }

  @Test func `a killed process's host is available to the next process after the usual gap`() throws {
    let store = InMemoryFeedStore()
    let address = URL(string: "https://example.com/feed")!
    let claim = PollClaim(
      feed: FeedHealth(address: address), host: "example.com", now: noon, lease: .seconds(35), dueIfLost: noon)
    guard case .granted = try store.claim(claim) else {
      Issue.record("the first is granted")
      return
    }
    var host = HostHealth(name: "example.com")
    (host.next, host.holder, host.opensIfLost) = (noon + 35, ProcessMark.own, noon + 1)
    host.forgetEndedHolder()
    #expect(host.opens == noon + 35)
    host.holder = ProcessMark.own.split(separator: " ").dropLast().joined(separator: " ") + " 1"
    host.forgetEndedHolder()
    #expect(host.opens == noon + 1)
  }
}
