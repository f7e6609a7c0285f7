import FeedStream
import FeedStreamNIO
import NIOCore
import NIOPosix
import Synchronization
import Testing

/// Tests what the articles recommend for a `NIOAsyncChannel`: using its inbound side as a publisher.
@Suite struct AsyncChannelTests {
  typealias Channel = NIOAsyncChannel<ByteBuffer, ByteBuffer>

  /// Runs `serve` on the first connection to a server on this machine, and `ask` on the other end of that connection.
  private func connected(
    serve: @escaping @Sendable (Channel) async throws -> Void, ask: @escaping @Sendable (Channel) async throws -> Void
  ) async throws {
    let group = MultiThreadedEventLoopGroup.singleton
    let wrap: @Sendable (any NIOCore.Channel) -> EventLoopFuture<Channel> = { channel in
      channel.eventLoop.makeCompletedFuture { try Channel(wrappingChannelSynchronously: channel) }
    }
    let server = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0, childChannelInitializer: wrap)
    let port = try #require(server.channel.localAddress?.port)
    try await server.executeThenClose { connections in
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask {
          let client = ClientBootstrap(group: group)
          try await ask(client.connect(host: "127.0.0.1", port: port, channelInitializer: wrap))
        }
        for try await connection in connections {
          try await serve(connection)
          break
        }
        try await tasks.waitForAll()
      }
    }
  }

  @Test func `a channel's input is a publisher in the task that serves the channel`() async throws {
    try await connected { channel in
      try await channel.executeThenClose { inbound, outbound in
        let shouts = inbound.publisher.map { String(buffer: $0).uppercased() }.values
        for try await text in shouts { try await outbound.write(ByteBuffer(string: text)) }
      }
    } ask: { channel in
      try await channel.executeThenClose { inbound, outbound in
        try await outbound.write(ByteBuffer(string: "gulls"))
        var answers = inbound.makeAsyncIterator()
        #expect(try await answers.next().map { String(buffer: $0) } == "GULLS")
      }
    }
  }

  @Test func `a channel's input is delivered on a FeedStream loop, and read only as it is requested`() async throws {
    let piece = ByteBuffer(repeating: 7, count: 1 << 16)
    // More data than the sockets and the channels can hold.
    let pieces = 1024
    let written = Atomic(0)
    try await connected { channel in
      try await channel.executeThenClose { inbound, _ in
        // `outbound.write` returns before its event loop, which may be slow, has sent anything.
        for _ in 0..<pieces {
          try await channel.channel.writeAndFlush(piece)
          written.add(1, ordering: .relaxed)
        }
        // Wait until the client has read everything and disconnects: closing drops data that isn't sent yet.
        for try await _ in inbound {}
      }
    } ask: { channel in
      let thread = try EventLoopThread()
      defer { thread.shutdown() }
      let loop = thread.loop
      try await channel.executeThenClose { inbound, _ in
        let sizes = inbound.publisher.map { buffer in
          #expect(loop.isCurrent)
          return buffer.readableBytes
        }
        var reader = sizes.values(on: loop).makeAsyncIterator()
        var sum = try await reader.next() ?? 0
        // Wait until the server can write no more.
        var seen = -1
        while seen != written.load(ordering: .relaxed) {
          seen = written.load(ordering: .relaxed)
          try await Task.sleep(for: .milliseconds(50))
        }
        #expect(seen < pieces)
        while sum < pieces * piece.readableBytes, let size = try await reader.next() { sum += size }
        #expect(sum == pieces * piece.readableBytes)
      }
    }
  }
}
