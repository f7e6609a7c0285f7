import FeedStream
import Foundation
import TestSupport
import Testing

@Suite(.settled, .timeLimit(.minutes(5))) struct PassedSocketTests {
  private let loop = EventLoop()

  private func read(_ variables: [String: String]) throws -> [PassedSockets.Socket] {
    try PassedSockets.read(process: 42) { variables[$0] }
  }

  /// Connects to a listener, and returns the greeting that it sends.
  private func greeting(of listener: Listener) -> String {
    let greeting = listener.connections.prefix(1)
      .flatMap { Just(Chunk("hello")).write(to: $0, atEnd: .endsWriting).catch { _ in Empty<Never, Never>() } }
      .sink { _ in }
    let client = Outcome(Connection.connect(to: listener.address, on: loop).flatMap(\.bytes))
    loop.run()
    greeting.cancel()
    return client.text
  }

  @Test func `passed sockets start at descriptor 3, in order, with their names`() throws {
    #expect(try read(["LISTEN_PID": "42", "LISTEN_FDS": "2"]).map(\.descriptor) == [3, 4])
    let named = try read(["LISTEN_PID": "42", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "http:admin"])
    #expect(named.map { "\($0.descriptor) \($0.name)" } == ["3 http", "4 admin"])
    #expect(try read(["LISTEN_PID": "42", "LISTEN_FDS": "1"]).map(\.name) == ["unknown"])
  }

  @Test func `variables for another process, or for no sockets, result in no sockets`() throws {
    for variables in [[:], ["LISTEN_FDS": "1"], ["LISTEN_PID": "42"], ["LISTEN_PID": "42", "LISTEN_FDS": "0"]] {
      #expect(try read(variables).isEmpty)
    }
    #expect(try read(["LISTEN_PID": "41", "LISTEN_FDS": "1"]).isEmpty)
  }

  @Test(arguments: [
    ["LISTEN_PID": "x", "LISTEN_FDS": "1"], ["LISTEN_PID": "42", "LISTEN_FDS": "-1"],
    ["LISTEN_PID": "42", "LISTEN_FDS": "2147483647"],
    ["LISTEN_PID": "42", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "one"],
  ])
  func `invalid variables are an error`(variables: [String: String]) {
    let error = #expect(throws: SystemError.self) { try read(variables) }
    #expect(error?.code == EINVAL && error?.description.contains("LISTEN_") == true)
  }

  @Test func `a listener at an inherited socket accepts connections, and closing it keeps the socket open`() throws {
    let socket = try PassedSocket.internet()
    for _ in 0..<2 {
      let listener = try Listener(at: .inherited(socket.descriptor), on: loop)
      #expect(listener.address == .internet("127.0.0.1", port: socket.port))
      #expect(greeting(of: listener) == "hello")
      listener.close()
      loop.run()
    }
    // Child processes must not inherit the socket.
    #expect(fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0)
  }

  @Test func `a listener at an inherited Unix socket accepts connections, and its file remains`() throws {
    let folder = TemporaryFolder()
    let path = "\(folder.path)/s"
    let socket = try PassedSocket.unix(path)
    let listener = try Listener(at: .inherited(socket.descriptor), on: loop)
    #expect(listener.address == .unix(path))
    #expect(greeting(of: listener) == "hello")
    listener.close()
    loop.run()
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test func `listening on a descriptor that isn't a listening socket fails, and so does connecting to one`() throws {
    let bound = try PassedSocket.internet(listens: false)
    let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    for (descriptor, code) in [(bound.descriptor, EINVAL), (file, ENOTSOCK), (9_999, EBADF)] {
      let error = #expect(throws: SystemError.self) { try Listener(at: .inherited(descriptor), on: loop) }
      #expect(error?.code == code)
      #expect(error?.description.hasPrefix("cannot listen on inherited socket \(descriptor): ") == true)
    }
    let connecting = Outcome(Connection.connect(to: .inherited(bound.descriptor), on: loop))
    loop.run()
    #expect(connecting.error?.code == EINVAL)
  }
}

/// A socket like one that a service manager passes.
private final class PassedSocket {
  let descriptor: Int32

  static func internet(listens: Bool = true) throws -> PassedSocket {
    try PassedSocket(AF_INET, listens: listens) { descriptor in
      withLoopbackAddress(port: 0) { bind(descriptor, $0, $1) }
    }
  }

  static func unix(_ path: String) throws -> PassedSocket {
    try PassedSocket(AF_UNIX, listens: true) { descriptor in
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }
  }

  private init(_ family: Int32, listens: Bool, _ bind: (Int32) -> Int32) throws {
    descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0, bind(descriptor) == 0, !listens || listen(descriptor, 8) == 0 else {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
  }

  deinit { close(descriptor) }

  var port: Int {
    var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &length) }
    }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
