import FeedStream
import Foundation
import TestSupport
import Testing

@testable import feed

/// `feed serve` as systemd's socket activation starts it.
@Suite(.settled, .timeLimit(.minutes(5))) struct ServePassedSocketTests {
  /// Starts `feed serve` with a listening socket as descriptor 3.
  private func serve(at port: ReservedPort, host: String, cache: String) throws -> RunningFeed {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port.number).bigEndian
    address.sin_addr.s_addr = inet_addr(host)
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0, listen(descriptor, 16) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    // The variable must contain the process id, so the shell sets it and then replaces itself with the program.
    let script = """
      exec 3<&0 </dev/null; export LISTEN_PID=$$ LISTEN_FDS=1
      exec "$FEED" serve --port 1 --cache "$CACHE" http://127.0.0.1:9/
      """
    return try RunningFeed(
      program: "/bin/sh", ["-c", script], environment: ["FEED": FeedBinary.path, "CACHE": cache],
      input: .descriptor(descriptor))
  }

  @Test func `a socket passed by systemd is served`() async throws {
    try await withFolder { folder in
      let (port, cache) = (try ReservedPort(), folder.appendingPathComponent("feeds.db").path)
      let run = try serve(at: port, host: "127.0.0.1", cache: cache)
      #expect(await run.output.line() == "http://127.0.0.1:\(port.number)/\n")
      #expect(try await get(port.number, "/health").hasPrefix("HTTP/1.1 200 OK\r\n"))
      run.send(SIGTERM)
      #expect(await run.status() == 143)
    }
  }

  @Test func `a passed socket that other machines reach requires the token`() async throws {
    try await withFolder { folder in
      let (port, cache) = (try ReservedPort(), folder.appendingPathComponent("feeds.db").path)
      let run = try serve(at: port, host: "0.0.0.0", cache: cache)
      let line = try #require(await run.output.line())
      #expect(line.hasPrefix("http://127.0.0.1:\(port.number)/?token="))
      #expect(try await get(port.number, "/health").hasPrefix("HTTP/1.1 401"))
      run.send(SIGTERM)
      #expect(await run.status() == 143)
    }
  }

  @Test func `invalid LISTEN_ variables end serve with a readable error`() async throws {
    let ending = try await FeedBinary.shell(
      #"export LISTEN_PID=$$ LISTEN_FDS=x; exec "$FEED" serve http://127.0.0.1:9/ </dev/null"#)
    #expect(ending.status == 1)
    #expect(ending.errors.contains("cannot read LISTEN_FDS=x"), "\(ending.errors)")
  }
}
