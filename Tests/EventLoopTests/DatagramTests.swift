import FeedStream
import Foundation
import TestSupport
import Testing

@Suite(.settled, .timeLimit(.minutes(5))) struct DatagramTests {
  private let loop = EventLoop()

  private func socket() throws -> DatagramSocket { try DatagramSocket(at: .internet("127.0.0.1", port: 0), on: loop) }

  @Test func `datagrams arrive whole with their sender, even empty ones`() throws {
    let (a, b) = (try socket(), try socket())
    let large = Chunk(repeatElement(1, count: 60_000))
    let received = Outcome(b.datagrams.prefix(3))
    let sent = Outcome(["one", "", large].map { Datagram($0, to: b.address) }.publisher.write(to: a))
    loop.run { received.isFinished }
    #expect(sent.isFinished)
    #expect(received.values.map(\.bytes) == ["one", "", large])
    #expect(received.values.allSatisfy { $0.address == a.address && !$0.isCut })
    for socket in [a, b] { socket.close() }
    loop.run()
  }

  @Test func `a datagram socket reads nothing without demand, and the system drops datagrams that don't fit`() throws {
    let (a, b) = (try socket(), try socket())
    let puller = Puller(b.datagrams)
    puller.request(1)
    let block = Chunk(repeatElement(1, count: 10_000))
    let sent = Outcome((0..<1_000).publisher.map { _ in Datagram(block, to: b.address) }.write(to: a))
    loop.run { sent.isFinished }
    #expect(puller.values.count == 1)
    puller.request(1_000)
    loop.run(for: .milliseconds(100))
    #expect((2..<1_000).contains(puller.values.count))
    puller.cancel()
    for socket in [a, b] { socket.close() }
    loop.run()
  }

  @Test func `a datagram echo is one chain, and ends when its socket is closed`() throws {
    let (server, client) = (try socket(), try socket())
    let echo = Outcome(server.datagrams.catch { _ in Empty<Datagram, Never>() }.write(to: server))
    let answer = Outcome(client.datagrams.first())
    let sent = Outcome(Just(Datagram("ping", to: server.address)).write(to: client))
    loop.run { answer.isFinished }
    #expect(answer.values.map(\.bytes) == ["ping"])
    #expect(sent.isFinished)
    server.close()
    #expect(echo.isFinished)
    client.close()
    loop.run()
  }

  @Test func `writing to a closed datagram socket fails`() throws {
    let a = try socket()
    let sent = Outcome(PassthroughSubject<Datagram, Never>().write(to: a))
    #expect(sent.completion == nil)
    a.close()
    #expect((sent.error?.cause as? SystemError) == SystemError("send from", "\(a.address)", code: 125))
    let again = Outcome(Just(Datagram("x", to: a.address)).write(to: a))
    #expect((again.error?.cause as? SystemError)?.name == "EBADF")
    #expect(Outcome(a.datagrams).error?.name == "EBADF")
    loop.run()
  }

  @Test(.enabled(if: ProcessInfo.processInfo.physicalMemory > 8 << 30))
  func `a datagram of 4 GiB is an error`() throws {
    let a = try socket()
    // The system refuses the datagram without reading the memory, which therefore takes no room.
    let huge = Chunk(capacity: 1 << 32) { _ in 1 << 32 }
    let sent = Outcome(Just(Datagram(huge, to: a.address)).write(to: a))
    loop.run { sent.completion != nil }
    let error = sent.error?.cause as? SystemError
    #expect(error?.name == "EMSGSIZE")
    a.close()
    loop.run()
  }

  @Test func `a failed datagram or socket is an error that names its address`() throws {
    let a = try socket()
    let other = SocketAddress.internet("127.0.0.1", port: 9)
    for (datagram, name) in [
      (Datagram(Chunk(repeatElement(1, count: 70_000)), to: other), "EMSGSIZE"),
      (Datagram("x", to: .unix("/path")), "EINVAL"),
    ] {
      let sent = Outcome(Just(datagram).write(to: a))
      loop.run { sent.completion != nil }
      #expect((sent.error?.cause as? SystemError)?.name == name)
      #expect((sent.error?.cause as? SystemError)?.subject == "\(datagram.address)")
      #expect(sent.error?.unsent == datagram)
    }
    #expect(throws: SystemError("receive at", "\(a.address)", code: 98)) { try DatagramSocket(at: a.address, on: loop) }
    #expect(throws: SystemError.self) { try DatagramSocket(at: .internet("nowhere", port: 1), on: loop) }
    let (first, second) = (Outcome(a.datagrams), Outcome(a.datagrams))
    #expect(second.error?.name == "EBUSY")
    first.cancel()
    a.close()
    #expect(Outcome(a.datagrams).error?.name == "EBADF")
    loop.run()
  }
}
