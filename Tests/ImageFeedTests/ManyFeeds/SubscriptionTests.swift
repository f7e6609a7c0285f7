import FeedFormats
import Foundation
import ImageFeed
import TestSupport
import Testing

@Suite(.settled) struct SubscriptionTests {
  private let folder = TemporaryFolder()
  private let a = URL(string: "https://a.example/feed?x=1&y=2")!
  private let b = URL(string: "https://b.example/")!

  private func file() -> SubscriptionFile { SubscriptionFile(besideCacheAt: folder.file("new/feeds.db")) }

  @Test func `a list is created, changed and read`() throws {
    let file = file()
    #expect(file.path.hasSuffix("/new/feeds.opml"))
    #expect(try file.read() == nil)
    let one = SubscribedFeed(address: a, title: "A", folders: ["Photos"], interval: .seconds(900), credentials: "work")
    let added = try [one, SubscribedFeed(address: b)].map { feed in try file.update { $0.add(feed) } }
    #expect(added == [true, true])
    #expect(try file.read()?.subscriptions == [one, SubscribedFeed(address: b)])
    #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("new")) == ["feeds.opml"])
  }

  @Test func `a change that changes nothing creates no file`() throws {
    let file = file()
    let isRemoved = try file.update { $0.remove(a) }
    #expect(try !isRemoved && file.read() == nil)
  }

  @Test func `adding a known URL changes its entry and keeps the other attributes`() throws {
    var list = OPML()
    list.add(SubscribedFeed(address: a, title: "A", interval: .seconds(60)))
    let isNew = list.add(SubscribedFeed(address: a, title: "B"))
    #expect(!isNew)
    #expect(list.subscriptions == [SubscribedFeed(address: a, title: "B", interval: .seconds(60))])
  }

  @Test func `removing a feed removes empty folders`() throws {
    var list = OPML()
    list.add(SubscribedFeed(address: a, folders: ["x", "y"]))
    list.add(SubscribedFeed(address: b, folders: ["x"]))
    let first = [list.remove(a), list.remove(a)]
    #expect(first == [true, false])
    #expect(list.outlines.map(\.outlines.count) == [1])
    let second = list.remove(b)
    #expect(second)
    #expect(list.outlines.isEmpty)
  }

  @Test func `another list's feeds are added with their folders, except known ones`() throws {
    var list = OPML()
    list.add(SubscribedFeed(address: a, title: "mine", folders: ["x"]))
    var other = OPML()
    other.add(SubscribedFeed(address: a, title: "theirs"))
    other.add(SubscribedFeed(address: b, title: "b", folders: ["x", "z"], interval: .seconds(1)))
    let added = list.add(other)
    #expect(added == 1)
    #expect(
      list.subscriptions == [
        SubscribedFeed(address: a, title: "mine", folders: ["x"]),
        SubscribedFeed(address: b, title: "b", folders: ["x", "z"], interval: .seconds(1)),
      ])
  }

  @Test func `a file that isn't a list is left unchanged`() throws {
    let file = SubscriptionFile(path: folder.file("feeds.opml"))
    try Data("hello".utf8).write(to: URL(fileURLWithPath: file.path))
    #expect(throws: SubscriptionFileError.notAList(file.path, .notAFeed)) { try file.read() }
    #expect(throws: SubscriptionFileError.self) { try file.update { $0.add(SubscribedFeed(address: a)) } }
    #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == Data("hello".utf8))
  }

  @Test func `simultaneous changes from several threads are all saved`() async throws {
    let file = file()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          _ = try? SubscriptionFile(path: file.path).update {
            $0.add(SubscribedFeed(address: URL(string: "http://\(number).example/")!))
          }
        }
      }
    }
    #expect(try file.read()?.feeds.count == 8)
  }
}
