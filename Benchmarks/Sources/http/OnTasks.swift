// The clients that a user could choose instead.
import Foundation
import Harness
import Tasks

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

func urlSession(_ url: URL, _ inFlight: Int, _ count: Int) -> Run {
  let configuration = URLSessionConfiguration.ephemeral
  configuration.httpMaximumConnectionsPerHost = inFlight
  configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
  let session = URLSession(configuration: configuration)
  defer { session.invalidateAndCancel() }
  return Run(
    count,
    inLanes(inFlight, count) {
      let (body, _) = try await session.data(from: url)
      precondition(!body.isEmpty, "The origin sent nothing")
    })
}

/// AsyncHTTPClient, from its own executable next to this one: it takes minutes to build, so short runs omit it.
func asyncHTTPClient(_ url: URL, _ inFlight: Int, _ count: Int) -> Run {
  let process = Process()
  let output = Pipe()
  process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "async-http-client")
  process.arguments = [url.absoluteString, "\(inFlight)", "\(count)"]
  process.standardOutput = output
  do { try process.run() } catch { fatalError("http: no async-http-client beside it; run Scripts/bench http") }
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  let figures = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
  precondition(process.terminationStatus == 0 && figures.count == 2, "async-http-client printed \(text)")
  return Run(count, seconds: figures[0], processorSeconds: figures[1])
}
