// Hummingbird with one route: `hummingbird-server PORT FILE` answers `GET /` with the file's text.
import Foundation
import Hummingbird
import Logging

let page = try String(contentsOfFile: CommandLine.arguments[2], encoding: .utf8)
let router = Router()
router.get("/") { _, _ in
  Response(
    status: .ok, headers: [.contentType: "text/html; charset=utf-8"], body: .init(byteBuffer: ByteBuffer(string: page)))
}
var logger = Logger(label: "server")
logger.logLevel = .error
let address = BindAddress.hostname("127.0.0.1", port: Int(CommandLine.arguments[1])!)
try await Application(router: router, configuration: .init(address: address), logger: logger).runService()
