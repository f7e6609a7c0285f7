// FlyingFox with one route: `flyingfox-server PORT FILE` answers `GET /` with the file's text.
import FlyingFox
import FlyingSocks
import Foundation

let page = try Data(contentsOf: URL(filePath: CommandLine.arguments[2]))
let server = HTTPServer(
  address: try .inet(ip4: "127.0.0.1", port: UInt16(CommandLine.arguments[1])!), timeout: 60, logger: .disabled)
await server.appendRoute("GET /") { _ in
  HTTPResponse(statusCode: .ok, headers: [.contentType: "text/html; charset=utf-8"], body: page)
}
try await server.run()
