import FeedFormats
@preconcurrency import Foundation

// Prints what each file says as a feed, a line of JSON each, in the order of their names on standard input. A line is a
// name, and after a tab the charset of the response, and after another tab the document's URL. For a document that isn't a feed it is
// {"error": …}.
//
// For scripts that compare with other parsers: one process reads thousands of documents.

func line(for request: String) -> String {
  let parts = request.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
  func part(_ index: Int) -> String? { index < parts.count && !parts[index].isEmpty ? parts[index] : nil }
  guard let data = FileManager.default.contents(atPath: parts[0]) else { return "{\"error\":\"cannot be read\"}" }
  do throws(FeedFormatError) {
    // In pieces, as from the network.
    var parser = FeedParser(address: part(2), charset: part(1))
    let bytes = [UInt8](data)
    for start in stride(from: 0, to: bytes.count, by: 4096) {
      try parser.feed(Array(bytes[start..<min(bytes.count, start + 4096)]))
    }
    return try parser.finish().inspection { item, _ in item.guid ?? item.link ?? "" }
  } catch {
    return "{\"error\":\"\(String(describing: error).filter { $0 != "\"" && $0 != "\\" })\"}"
  }
}

setvbuf(stdout, nil, _IOLBF, 0)
while let request = readLine() {
  print(line(for: request))
}
