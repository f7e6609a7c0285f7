import FeedFormats
@preconcurrency import Foundation

// Prints the feed in each file as a line of JSON, in the order of the names on standard input. Each input line is a name,
// followed by a tab and the response's charset, and another tab and the document's URL. For a document that isn't a feed,
// the output is {"error": …}.
//
// For scripts that compare with other parsers: one process reads thousands of documents.

func line(for request: String) -> String {
  let parts = request.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
  func part(_ index: Int) -> String? { index < parts.count && !parts[index].isEmpty ? parts[index] : nil }
  guard let data = FileManager.default.contents(atPath: parts[0]) else { return "{\"error\":\"cannot be read\"}" }
  do throws(FeedFormatError) {
    // Feed the document in pieces, as from the network.
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
