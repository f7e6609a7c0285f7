import FeedHTTP
import FeedStream
import Foundation

// Sends one request and shows the response, or follows a stream of events:
//
//   Fetch <method> <url> [--header 'Name: value']… [--body <file|->]
//   Fetch events <url> [--header 'Name: value']…

/// Ends the program with a message.
func quit(_ message: String, _ status: Int32 = 1) -> Never {
  FileHandle.standardError.write(Data("Fetch: \(message)\n".utf8))
  exit(status)
}

let usage = """
  usage: Fetch <method> <url> [--header 'Name: value']… [--body <file|->]
         Fetch events <url> [--header 'Name: value']…
  """
var arguments = CommandLine.arguments.dropFirst()
guard let word = arguments.popFirst(), let address = arguments.popFirst() else { quit(usage, 64) }
guard let url = URL(string: address), url.host() != nil else { quit("\(address) is not a URL", 64) }

let loop = EventLoop()
let client = CurlHTTPClient(on: loop)
let isEvents = word == "events"
var request = HTTPRequest(isEvents ? .get : HTTPMethod(rawValue: word), url)
while let option = arguments.popFirst() {
  guard let value = arguments.popFirst() else { quit("\(option) needs a value\n\(usage)", 64) }
  switch option {
  case "--header":
    guard let colon = value.firstIndex(of: ":") else { quit("write a header field as 'Name: value', not \(value)", 64) }
    let text = value[value.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    request.headers.append(.init(name: String(value[..<colon]), value: text))
  case "--body" where value == "-" && !isEvents: request.body = .stream(StandardInput.bytes(on: loop))
  case "--body" where !isEvents: request.body = .file(value)
  default: quit("unknown option \(option)\n\(usage)", 64)
  }
}

struct EventLine: Encodable {
  var id, event, data: String
}

/// The text for standard output.
let output: AnyPublisher<Chunk, any Error>
if isEvents {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  output = client.events(with: request)
    .tryMap { try Chunk(encoder.encode(EventLine(id: $0.id, event: $0.event, data: $0.data)) + [0x0A]) }
    .eraseToAnyPublisher()
} else {
  // Bodies may be long and slow; the connection's own limits still apply.
  request.timeout = .seconds(24 * 3600)
  request.maxBodyBytes = .max
  // Unlike flatMap, flatMapLatest holds no bytes, which a failure would drop.
  output = client.open(request)
    .flatMapLatest { response -> AnyPublisher<Chunk, HTTPError> in
      let phrase = HTTPStatus.phrase(response.status)
      let status = phrase.isEmpty ? "\(response.status)" : "\(response.status) \(phrase)"
      let head = Just(Chunk("\(status)\n\(response.headers)\n\n")).setFailureType(to: HTTPError.self)
      return head.append(response.body).eraseToAnyPublisher()
    }
    .eraseFailureType().eraseToAnyPublisher()
}
let showing = output.write(to: .output, on: loop).sink { completion in
  if case .failure(let error) = completion { quit("\(error.cause)") }
} receiveValue: { _ in
}
loop.run()
withExtendedLifetime(showing) {}
