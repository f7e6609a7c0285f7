import FeedHTTPServer
import FeedStream
import Foundation

// Five streams, each stuck for a different reason. This program prints the URL of a page that shows where each is
// stuck.
//
//     swift run StuckStreams [port]

let loop = EventLoop()
let server = listen()

// The map shows the streams that are subscribed to from here on.
StreamDiagnostics.startMap()
var subscriptions: [AnyCancellable] = []

// Loads thumbnails, one after another.
func thumbnail(of number: Int) -> AnyPublisher<String, Never> {
  let response = PassthroughSubject<String, Never>()
  loop.schedule(after: loop.now.advanced(by: .milliseconds(50))) { response.send("thumbnail \(number)") }
  return response.eraseToAnyPublisher()
}
(1...100).publisher
  .flatMap(maxPublishers: .max(1)) { thumbnail(of: $0) }
  .checkpoint("thumbnails")
  .sink { print($0) }
  .store(in: &subscriptions)

// Shows the temperature with the humidity, which is from 0 to 1.
let humidities = loop.timer(every: .milliseconds(500)).autoconnect()
  .map { _ in Double.random(in: 20...80) }
  .filter { $0 <= 1 }
loop.timer(every: .milliseconds(500)).autoconnect()
  .map { _ in Double.random(in: 15...25) }
  .combineLatest(humidities)
  .checkpoint("climate")
  .sink { print("\($0) °C, \($1 * 100) %") }
  .store(in: &subscriptions)

// Uploads log lines as fast as the server accepts them.
var responses: [CheckedContinuation<Int, Never>] = []
@MainActor func upload(_ line: String) async -> Int { await withCheckedContinuation { responses.append($0) } }
loop.timer(every: .milliseconds(100)).autoconnect()
  .map { "a line at \($0)" }
  .buffer(size: 8, prefetch: .byRequest, whenFull: .dropNewest)
  .mapAsync(limit: 2) { await upload($0) }
  .checkpoint("uploads")
  .sink { print("status \($0)") }
  .store(in: &subscriptions)

// Searches when the user pauses.
loop.timer(every: .milliseconds(200)).autoconnect()
  .scan("") { text, _ in text + "a" }
  .debounce(for: .seconds(1), scheduler: loop)
  .checkpoint("search")
  .sink { print("searching \($0)") }
  .store(in: &subscriptions)

// Shares one load of the settings.
let settings = Just("settings").delay(for: .milliseconds(100), scheduler: loop).makeConnectable()
settings
  .checkpoint("settings")
  .sink { print($0) }
  .store(in: &subscriptions)

var routes = HTTPRoutes()
routes.streamMap("/streams")
server.serve(routes).store(in: &subscriptions)
FileHandle.standardOutput.write(Data("http://127.0.0.1:\(server.address?.port ?? 0)/streams\n".utf8))
loop.run(.untilStopped)

func listen() -> HTTPServer {
  guard let port = Int(CommandLine.arguments.dropFirst().first ?? "8080"), 0...65_535 ~= port else {
    FileHandle.standardError.write(Data("usage: StuckStreams [port]\n".utf8))
    exit(64)
  }
  do { return try HTTPServer(at: .internet("127.0.0.1", port: port), on: loop) } catch {
    // The port may be in use.
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
  }
}
