import FeedStream
import Foundation
import TestSupport
import Testing

/// Streams that were released without being cancelled.
@Suite(.settled, .timeLimit(.minutes(5))) struct DroppedStreamTests {
  private let loop = EventLoop()
  private let folder = TemporaryFolder()

  /// True when the process has a file open below the test's folder.
  private var hasOpenFile: Bool {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.contains { number in
      let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
      return path?.hasPrefix(folder.path) == true
    }
  }

  /// Receives one value, and then releases its subscription.
  private final class Taker<Input, Failure: Error>: Subscriber {
    var subscription: (any Subscription)?
    var count = 0

    func receive(subscription: any Subscription) {
      self.subscription = subscription
      subscription.request(.max(1))
    }

    func receive(_ input: Input) -> Subscribers.Demand {
      count += 1
      return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {}
  }

  private func check<P: Publisher>(_ publisher: P) {
    let taker = Taker<P.Output, P.Failure>()
    publisher.subscribe(taker)
    loop.run { taker.count == 1 }
    #expect(hasOpenFile)
    taker.subscription = nil
    #expect(!hasOpenFile)
    loop.run()
    #expect(taker.count == 1)
  }

  @Test func `dropping a subscription closes the file or folder it reads`() {
    folder.write("a\nb\nc\n", to: "file")
    for name in 0..<200 { folder.write("", to: "\(name)") }
    check(File(folder("file")).bytes(chunkSize: 1, on: loop))
    check(File(folder("file")).following(from: .beginning, chunkSize: 1, on: loop))
    check(Folder(folder.path).entries(on: loop))
  }

  @Test func `dropping a write closes the file, and removes the temporary file of an atomic write`() throws {
    for writing: FileWriting in [.replacing, .atomically] {
      folder.write("", to: "file")
      let source = PassthroughSubject<Chunk, Never>()
      var outcome: Outcome? = Outcome(source.write(to: File(folder("file")), writing, on: loop))
      source.send("abc")
      loop.run()
      #expect(hasOpenFile && outcome?.completion == nil)
      outcome = nil
      loop.run()
      #expect(!hasOpenFile)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
      #expect(folder.text("file") == (writing == .atomically ? "" : "abc"))
    }
  }

  @Test func `dropping a subscription that reads or writes a connection closes it`() throws {
    let listener = try Listener(at: .unix(folder("socket")), on: loop)
    let ends = Outcome(listener.connections.prefix(2).flatMap { $0.bytes.catch { _ in Empty<Chunk, Never>() } })
    let client = Connection.connect(to: .unix(folder("socket")), on: loop)
    let source = PassthroughSubject<Chunk, Never>()
    var reader: Outcome? = Outcome(client.flatMap { $0.bytes })
    var writer: Outcome? = Outcome(
      client.mapError { $0 as any Error }.flatMap { source.write(to: $0).mapError { $0 as any Error } })
    loop.run(for: .milliseconds(20))
    source.send("abc")
    loop.run { ends.text == "abc" }
    #expect(reader?.completion == nil && writer?.completion == nil && ends.completion == nil)
    reader = nil
    writer = nil
    loop.run { ends.isFinished }
    #expect(ends.isFinished)
    listener.close()
    loop.run()
  }

  @Test func `dropping a listener's subscription closes its socket`() throws {
    var listener: Listener? = try Listener(at: .unix(folder("socket")), on: loop)
    var connections: Outcome? = Outcome(listener!.connections)
    #expect(listener?.isClosed == false && connections?.completion == nil)
    listener = nil
    #expect(FileManager.default.fileExists(atPath: folder("socket")))
    connections = nil
    #expect(!FileManager.default.fileExists(atPath: folder("socket")))
    loop.run()
  }
}
