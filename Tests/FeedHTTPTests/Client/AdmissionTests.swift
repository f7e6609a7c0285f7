import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

@Suite(.settled) struct AdmissionTests {
  @Test func `admission allows requests up to its limits, in total and per host`() {
    let admission = Books<String>(limit: 3, limitPerHost: 2)
    #expect(admission.admit(1))
    #expect(admission.admit(1))
    #expect(!admission.admit(1))
    #expect(admission.admit(2))
    #expect(!admission.admit(2))
    #expect(admission.running == 3)
  }

  @Test func `a host's waiting requests are admitted in order`() {
    let admission = Books<String>(limit: 9, limitPerHost: 1)
    _ = admission.admit(1)
    for item in ["a", "b", "c"] { admission.wait(item, for: 1) }
    #expect(admission.next() == nil)
    for item in ["a", "b", "c"] {
      admission.release(1)
      #expect(admission.next() == item)
      #expect(admission.next() == nil)
    }
  }

  @Test func `hosts are admitted in turn`() {
    let admission = Books<String>(limit: 1, limitPerHost: 1)
    _ = admission.admit(1)
    for item in ["1a", "1b"] { admission.wait(item, for: 1) }
    for item in ["2a", "2b"] { admission.wait(item, for: 2) }
    var order: [String] = []
    var host: Int = 1
    for _ in 0..<4 {
      admission.release(host)
      let item = admission.next()!
      order.append(item)
      host = item.hasPrefix("1") ? 1 : 2
    }
    #expect(order == ["2a", "1a", "2b", "1b"] || order == ["1a", "2a", "1b", "2b"])
    #expect(admission.next() == nil)
  }

  @Test func `a host at its limit doesn't block other hosts`() {
    let admission = Books<String>(limit: 9, limitPerHost: 1)
    _ = admission.admit(1)
    admission.wait("1", for: 1)
    #expect(admission.admit(2))
    admission.wait("2", for: 2)
    admission.release(2)
    #expect(admission.next() == "2")
    #expect(admission.next() == nil)
  }

  @Test func `a request that returns to the queue is first`() {
    let admission = Books<String>(limit: 1, limitPerHost: 1)
    _ = admission.admit(1)
    admission.wait("second", for: 1)
    admission.release(1)
    admission.wait("first", for: 1, cameBack: true)
    #expect(admission.next() == "first")
  }

  @Test func `removeAll() removes every waiting request`() {
    let admission = Books<Int>(limit: 1, limitPerHost: 1)
    _ = admission.admit(1)
    for item in 0..<100 { admission.wait(item, for: Int(item % 7)) }
    #expect(Set(admission.removeAll()) == Set(0..<100))
    admission.release(1)
    #expect(admission.next() == nil)
    #expect(admission.admit(3))
  }

  @Test func `requests that no longer wait are removed before their turn, and the others keep their order`() {
    let admission = Books<Int>(limit: 9, limitPerHost: 1)
    _ = admission.admit(1)
    for item in 0..<100 { admission.wait(item, for: 1) }
    var left: Set<Int> = []
    var removed: [Int] = []
    for item in 0..<100 where item % 10 != 0 {
      left.insert(item)
      removed += admission.leave(1) { !left.contains($0) }
      #expect(left.count - removed.count <= 50)
    }
    for item in stride(from: 0, to: 100, by: 10) {
      admission.release(1)
      var next = admission.next()
      while let found = next, left.contains(found) {
        admission.release(1)
        next = admission.next()
      }
      #expect(next == item)
    }
  }

  @Test func `a host whose requests have all left its queue blocks no request`() {
    let admission = Books<String>(limit: 1, limitPerHost: 1)
    _ = admission.admit(1)
    admission.wait("2", for: 2)
    #expect(admission.leave(2) { _ in false } == ["2"])
    admission.wait("1", for: 1)
    #expect(admission.leave(1) { _ in false } == ["1"])
    admission.release(1)
    #expect(admission.next() == nil)
    #expect(admission.admit(2) && admission.running == 1)
    admission.release(2)
    #expect(admission.leave(2) { _ in false } == [])
  }

  @Test func `many requests are each admitted once`() {
    let admission = Books<Int>(limit: 10, limitPerHost: 3)
    var running: [(Int, Int)] = []
    var seen: [Int] = []
    for item in 0..<1_000 {
      let host = Int(item % 13)
      if admission.admit(host) { running.append((item, host)) } else { admission.wait(item, for: host) }
    }
    while !running.isEmpty {
      let (item, host) = running.removeFirst()
      seen.append(item)
      admission.release(host)
      while let next = admission.next() { running.append((next, Int(next % 13))) }
      #expect(running.count <= 10)
    }
    #expect(seen.sorted() == Array(0..<1_000))
    #expect(admission.running == 0)
  }
}

/// An `Admission` by reference: `#expect` can't call a method that mutates a value.
private final class Books<Item> {
  private var admission: Admission<Item>

  init(limit: Int, limitPerHost: Int) { admission = Admission(limit: limit, limitPerHost: limitPerHost) }

  var running: Int { admission.running }
  func admit(_ key: Int) -> Bool { admission.admit(key) }
  func wait(_ item: Item, for key: Int, cameBack: Bool = false) {
    admission.wait(item, for: key, cameBack: cameBack)
  }
  func leave(_ key: Int, where isWaiting: (Item) -> Bool) -> [Item] { admission.leave(key, where: isWaiting) }
  func release(_ key: Int) { admission.release(key) }
  func next() -> Item? { admission.next() }
  func removeAll() -> [Item] { admission.removeAll() }
}
