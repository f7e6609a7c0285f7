import FeedStream
import FeedStreamTesting
import Foundation

/// The number as a line of text.
private func line(_ value: Int) -> Chunk { Chunk("\(value)\n") }

/// A connection in virtual time to a peer that reads everything, and sends 0 to 3 as separate lines.
private func connected(_ time: VirtualTimeScheduler) -> AnyPublisher<Connection, any Error> {
  let place = SocketAddress.internet("10.0.0.1", port: 80)
  let listener = try! Listener(at: place, on: time)
  let serving = listener.connections
    .flatMap { connection in
      (0..<4).map(line).publisher.write(to: connection, atEnd: .endsWriting).map { (_: Never) -> Chunk in }
        .eraseFailureType()
        .merge(with: connection.bytes.eraseFailureType())
        .catch { _ in Empty<Chunk, Never>() }
    }
    .sink { _ in }
  return Connection.connect(to: place, on: time).eraseFailureType()
    .handleEvents(receiveRequest: { _ in withExtendedLifetime((listener, serving)) {} })
    .eraseToAnyPublisher()
}

let chunkRows = rows {
  RuleRow("IO/Chunks/Splitting", "lines(maxLength:)", expects: { .values($0.values.map(String.init)) }) {
    $0.map(line).lines()
  }
  RuleRow("IO/Chunks/Splitting", "split(by:maxLength:)", expects: { .values($0.values.map { Chunk("\($0)") }) }) {
    $0.map(line).split(by: 10)
  }
  RuleRow("IO/Chunks/UTF8Text", "utf8Text()", expects: { .values($0.values.map { "\($0)\n" }) }) {
    $0.map(line).utf8Text()
  }
  RuleRow("IO/Chunks/Recutting", "chunked(into:)", expects: { .values($0.values.flatMap { [Chunk("\($0)"), "\n"] }) }) {
    $0.map(line).chunked(into: 1)
  }
  RuleRow(
    "IO/Chunks/Recutting", "joined(upTo:)",
    expects: { .values($0.whenFinished(Chunk($0.values.map { "\($0)\n" }.joined()))) }
  ) { $0.map(line).joined(upTo: 1 << 20) }
  RuleRow(
    "IO/Chunks/Recutting", "prefix(bytes:)",
    expects: { .values($0.values.prefix(2).map(line), then: $0.values.count > 1 ? .finished : nil) }
  ) { $0.map(line).prefix(bytes: 4) }
  RuleRow("IO/Chunks/Framed", "framed(by:)", expects: { .values($0.values.map { "\($0)\n" }) }) {
    $0.map(line).framed(by: UTF8Decoder())
  }
  RuleRow(
    "Foundation/DecodeJSONLines", "decodeJSONLines(_:decoder:maxLength:onInvalid:)", expects: { .values($0.values) }
  ) {
    $0.map(line).decodeJSONLines(Int.self)
  }
}

let fileRows = rows {
  RuleRow(
    "IO/Files/File", "bytes(from:chunkSize:on:)", timed: .isShort,
    expects: { _ in .values(["ab", "cd", "e"] as [Chunk], then: .finished) }
  ) {
    _, time in
    time.files["f"] = "abcde"
    return File("f").bytes(chunkSize: 2, on: time)
  }
  RuleRow("IO/Files/File", "bytes(from:chunkSize:on:) of no file", timed: [], expects: { _ in .nothing(then: .fails) })
  {
    _, time in File("none").bytes(on: time)
  }
  RuleRow("IO/Files/Following", "following(from:every:chunkSize:on:)", timed: .isEndless) { _, time in
    time.files["f"] = "abcde"
    return File("f").following(from: .beginning, chunkSize: 2, on: time)
  }
  RuleRow(
    "IO/Files/FileWriter", "write(to:_:permissions:syncs:limit:on:)", timed: .isShort, expects: { _ in .nothing() }
  ) {
    upstream, time in upstream.map(line).write(to: File("f"), on: time)
  }
  RuleRow(
    "IO/Files/FileWriter", "write(to:_:permissions:syncs:limit:on:), atomically", timed: .isShort,
    expects: { _ in .nothing() }
  ) {
    upstream, time in upstream.map(line).write(to: File("f"), .atomically, limit: 1, on: time)
  }
  RuleRow(
    "IO/Folders/Folder", "entries(recursively:skipsUnreadable:on:)", timed: .isShort,
    expects: { _ in .values(["d/a", "d/b", "d/b/c"], then: .finished) }
  ) { _, time in
    for path in ["d/a", "d/b/c"] { time.files[path] = "" }
    return Folder("d").entries(recursively: true, on: time).map(\.path)
  }
  RuleRow("IO/Folders/FolderChanges", "changes(every:on:)", timed: [.isEndless, .dependsOnDemand]) { _, time in
    time.files["d/a"] = ""
    time.schedule { time.files["d/b"] = "" }
    return Folder("d").changes(on: time)
  }
}

let streamRows = rows {
  RuleRow("IO/Streams/Write", "write(to:limit:atEnd:)", timed: .isShort, expects: { _ in .nothing() }) {
    upstream, time in
    connected(time).flatMap { upstream.map(line).write(to: $0, limit: 1).eraseFailureType() }
  }
  RuleRow(
    "IO/Streams/Connection", "bytes", timed: .isShort,
    expects: { _ in .values(["0", "1", "2", "3"], then: .finished) }
  ) { _, time in
    connected(time).flatMap { $0.bytes.eraseFailureType() }.lines()
  }
  RuleRow("IO/Streams/Listener", "connections", timed: .isEndless) { _, time in
    let listener = try! Listener(at: .internet("10.0.0.1", port: 80), on: time)
    return listener.connections
  }
  RuleRow(
    "IO/Streams/StandardStreams", "StandardInput.bytes(on:)", timed: .isShort,
    expects: { _ in .values(["a", "b"], then: .finished) }
  ) {
    _, time in
    let typing = Just(Chunk("a\nb\n")).write(to: time.standardStreams.input, atEnd: .endsWriting)
      .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
    return StandardInput.bytes(on: time).lines()
      .handleEvents(receiveRequest: { _ in withExtendedLifetime(typing) {} })
  }
  RuleRow("IO/Streams/StandardStreams", "write(to:limit:on:)", timed: .isShort, expects: { _ in .nothing() }) {
    upstream, time in upstream.map(line).write(to: .output, on: time)
  }
  RuleRow("IO/Streams/Connecting", "connect(to:on:)", timed: [], expects: { _ in .nothing(then: .fails) }) { _, time in
    Connection.connect(to: .internet("10.0.0.1", port: 80), on: time).map { _ in 0 }
  }
  RuleRow(
    "IO/Names/ConnectByName", "connect(to:lookUpLimit:connectLimit:attemptDelay:on:)", timed: [],
    expects: { _ in .nothing(then: .fails) }
  ) {
    _, time in Connection.connect(to: "localhost:80", on: time).map { _ in 0 }
  }
  RuleRow("IO/Names/LookUp", "lookUp(_:port:within:on:)", timed: [], expects: { _ in .values([80], then: .finished) }) {
    _, time in SocketAddress.lookUp("localhost", port: 80, on: time).map { $0[0].port! }
  }
}

/// A program that is killed at the instant of its cancellation, so that nothing waits for it.
private func brief(_ program: String) -> Subprocess {
  var subprocess = Subprocess(program)
  subprocess.grace = .zero
  return subprocess
}

let processRows = rows {
  RuleRow(
    "IO/Processes/RunningSubprocess", "pipe(through:on:)", timed: [.isShort, .failsAtOnce],
    expects: { .interleaved([$0.values.map(String.init)]) }
  ) { upstream, time in
    time.programs["cat"] = { program in
      program.input.write(to: program.output)
        .sink(receiveCompletion: { _ in program.exit() }, receiveValue: { _ in })
        .store(in: &program.work)
    }
    return upstream.map(line).pipe(through: brief("cat"), on: time).lines()
  }
  RuleRow(
    "IO/Processes/RunningSubprocess", "output(on:)", timed: .isShort,
    expects: { _ in .values(["a", "b"], then: .fails) }
  ) {
    _, time in
    time.programs["false"] = { program in
      program.print("a\nb\n")
      program.exit(.exited(1))
    }
    return brief("false").output(on: time).lines()
  }
  RuleRow("IO/Datagrams/SendDatagrams", "write(to:)", timed: .isShort, expects: { _ in .nothing() }) { upstream, time in
    let socket = try! DatagramSocket(at: .internet("10.0.0.1", port: 0), on: time)
    return upstream.map { Datagram(line($0), to: .internet("10.0.0.2", port: 9)) }.write(to: socket)
  }
  RuleRow("IO/Datagrams/DatagramSocket", "datagrams", timed: .isEndless) { _, time in
    let socket = try! DatagramSocket(at: .internet("10.0.0.1", port: 0), on: time)
    return socket.datagrams
  }
  RuleRow("IO/System/Signals", "received(_:keepsLoopAlive:on:)", timed: [.isEndless, .dependsOnDemand]) { _, time in
    time.schedule { time.raise(1) }
    return Signals.received(1, on: time)
  }
  RuleRow(
    "IO/System/RandomBytes", "chunks(of:on:)", timed: .isShort, expects: { _ in .values([4, 4], then: .finished) }
  ) {
    _, time in RandomBytes.chunks(of: 4, on: time).prefix(2).map(\.count)
  }
  RuleRow("IO/Terminal/Terminal", "sizes", timed: [.isEndless, .dependsOnDemand]) { _, time in
    (try! Terminal(on: time)).sizes
  }
}
