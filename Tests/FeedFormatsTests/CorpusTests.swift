import FeedFormats
import Foundation
import TestSupport
import Testing

/// The fuzzer's seeds and findings: each document is the same feed or the same error, however it is split.
@Suite(.settled) struct CorpusTests {
  static let corpora = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fuzzing/Corpora")

  static let inputs = ["rss", "atom", "jsonfeed"].flatMap { target in
    let folder = corpora.appending(path: target)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().map { "\(target)/\($0)" }
  }

  @Test func `the corpus has inputs for each format`() {
    #expect(Set(Self.inputs.map { $0.prefix { $0 != "/" } }) == ["rss", "atom", "jsonfeed"])
    #expect(Self.inputs.filter { $0.hasSuffix("cut-encoding") }.count == 2)
  }

  @Test(arguments: inputs, [nil, "shift_jis", "koi8-r"])
  func `a document is read identically however its bytes are split`(input: String, charset: String?) throws {
    let bytes = try [UInt8](Data(contentsOf: Self.corpora.appending(path: input)))
    let whole = outcome(of: bytes, charset, inPiecesOf: bytes.count)
    for size in [1, 2, 3, 5, 16, 37, 64, 97, 512] {
      #expect(outcome(of: bytes, charset, inPiecesOf: size) == whole, "in pieces of \(size)")
    }
  }

  private func outcome(
    of bytes: [UInt8], _ charset: String?, inPiecesOf size: Int
  ) -> Result<FeedDocument, FeedFormatError> {
    do throws(FeedFormatError) {
      var parser = FeedParser(address: "https://example.org/a/b?c", charset: charset)
      for start in stride(from: 0, to: bytes.count, by: size) {
        try parser.feed(Array(bytes[start..<min(start + size, bytes.count)]))
      }
      return .success(try parser.finish())
    } catch {
      return .failure(error)
    }
  }
}
