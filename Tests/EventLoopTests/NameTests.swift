import FeedStream
import TestSupport
import Testing

@Suite(.settled, .timeLimit(.minutes(5))) struct NameTests {
  private let loop = EventLoop()

  @Test func `names and numeric addresses are resolved, and an unknown name is an error`() {
    let local = Outcome(SocketAddress.lookUp("localhost", port: 80, on: loop))
    let four = Outcome(SocketAddress.lookUp("127.0.0.1", port: 1, on: loop))
    let six = Outcome(SocketAddress.lookUp("::1", port: 2, on: loop))
    let none = Outcome(SocketAddress.lookUp("not a host", port: 1, on: loop))
    loop.run()
    #expect(local.values.first?.contains(.internet("127.0.0.1", port: 80)) == true)
    #expect(four.values == [[.internet("127.0.0.1", port: 1)]])
    #expect(six.values == [[.internet("::1", port: 2)]])
    #expect(none.error?.subject == "not a host")
    #expect(none.error?.name.hasPrefix("EAI_") == true)
  }

  @Test(arguments: ["", "a\0b"]) func `an invalid host name is refused`(_ host: String) {
    let outcome = Outcome(SocketAddress.lookUp(host, port: 1, on: loop))
    loop.run()
    #expect(outcome.error?.name == "EINVAL")
  }

  @Test func `connecting by name uses whichever address family responds`() throws {
    let listener = try Listener(at: .internet("127.0.0.1", port: 0), on: loop)
    let port = listener.address.port!
    let server = Outcome(listener.connections.prefix(1))
    // If the name also has an IPv6 address, no server listens on it.
    let client = Outcome(Connection.connect(to: "localhost:\(port)", on: loop))
    loop.run { client.completion != nil && !server.values.isEmpty }
    #expect(client.values.first?.peer == listener.address)
    listener.close()
    loop.run { server.isFinished }
  }

  @Test func `a connection to a port without a listener is refused`() throws {
    let port = try ReservedPort()
    let refused = Outcome(Connection.connect(to: "127.0.0.1:\(port.number)", on: loop))
    loop.run()
    #expect(refused.error == SystemError("connect to", "127.0.0.1:\(port.number)", code: 111))
  }

  @Test(arguments: ["localhost", "localhost:", "localhost:http", "localhost:70000", ":80", "[]:80", "localhost:-1"])
  func `an address without a valid host or port is an error that shows it`(_ place: String) {
    let outcome = Outcome(Connection.connect(to: place, on: loop))
    #expect(outcome.error?.name == "EINVAL")
    #expect(outcome.error?.subject.contains(place) == true)
  }

  @Test func `a cancelled lookup delivers nothing`() {
    let outcome = Outcome(SocketAddress.lookUp("localhost", port: 80, on: loop))
    outcome.cancel()
    loop.run()
    #expect(outcome.values.isEmpty && outcome.completion == nil)
  }

  @Test func `a loop that closes during a lookup delivers nothing more, and doesn't connect`() {
    let connection = Outcome(Connection.connect(to: "localhost:1", on: loop))
    let names = Outcome(SocketAddress.lookUp("localhost", port: 80, on: loop))
    loop.close()
    #expect(connection.values.isEmpty && connection.completion == nil)
    #expect(names.values.isEmpty && names.completion == nil)
  }

  @Test func `a lookup of an overlong name can be cancelled at once`() {
    let name = String(repeating: "a", count: 300)
    let cancelled = Outcome(SocketAddress.lookUp(name, port: 80, on: loop))
    cancelled.cancel()
    let outcome = Outcome(SocketAddress.lookUp(name, port: 80, on: loop))
    loop.run()
    #expect(cancelled.completion == nil)
    #expect(outcome.error?.subject == name)
  }
}
