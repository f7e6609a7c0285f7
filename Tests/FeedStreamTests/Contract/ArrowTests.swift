import Foundation
import Synchronization
import TestSupport
import Testing

/// The dependencies between folders, read from the sources as text: the types that each may name, and the modules that
/// each may import.
@Suite(.settled) struct ArrowTests {
  /// The folders of each module and of the command, from the bottom up: each names only its own types and those of
  /// earlier folders. The name of the files outside folders is empty. Give a new folder its place here.
  static let orders = [
    "Sources/FeedStream": [
      "Core", "Engine", "Schedulers", "Subjects", "Publishers", "Subscribers", "Operators", "EventLoop", "IO",
      "Concurrency", "Parallel", "Foundation",
    ],
    "Sources/FeedStreamTesting": [
      "Reporting", "VirtualTime", "World", "Schedulers", "Recording", "Marbles", "Scripted", "Expecting", "Verifying",
      "Diagrams", "Rules",
    ],
    "Sources/FeedHTTP": ["", "Cache", "Cookies", "Credentials", "Events", "Sending", "Curl"],
    "Sources/FeedHTTPServer": [
      "Messages", "Limits", "Parsing", "Responses", "Coding", "Events", "Middleware", "Routing", "Serving",
    ],
    "Sources/FeedWebSocket": ["Terms", "Compression", "Handshake", "Frames", "Socket", "Client", "Server"],
    "Sources/FeedRedis": ["Protocol", "Client"],
    "Sources/FeedFleet": ["", "Redis", "Gateway"],
    "Sources/FeedFormats": ["Bytes", "Document", "XML", "Markup", "OPML", "JSON", "Syndication", ""],
    "Sources/ImageFeed": [
      "", "Platform", "Feature", "Formats", "History", "Cache", "Subscriptions", "Pipelines", "Images", "Decoding",
      "ManyFeeds",
    ],
    "Sources/FeedPolling": ["", "Schedule", "Store", "Work", "Hosts", "Push", "Poller", "Visits", "Worker"],
    "Sources/ImageFeedTesting": ["", "Disk", "Images", "Politeness", "Network"],
    "Sources/TerminalImages": ["Pixels", "Cells", "Encoding", "Asking", "Screen"],
    "Examples/feed": [
      "Options", "Rendering", "Running", "Lists", "Images", "Loading", "Browse", "Cache", "Demo", "Fleet", "Explain",
      "Get", "History", "Inspect", "Serve", "Subscriptions", "",
    ],
  ]

  @Test(arguments: orders.keys.sorted())
  func `each folder uses only folders below it`(_ module: String) throws {
    let house = try House.of(module)
    let order = try #require(Self.orders[module])
    #expect(house.folders.subtracting(order).sorted() == [], "give the new folder its place in the order")
    #expect(house.arrows(against: order) == [])
  }

  @Test func `every module that has folders has an order`() throws {
    let sources = try House.root.appending(path: "Sources").subfolders()
    let modules = try sources.filter { try !$0.subfolders().filter { try $0.hasSources() }.isEmpty }
    #expect(modules.map { "Sources/" + $0.lastPathComponent }.filter { Self.orders[$0] == nil } == [])
  }

  @Test func `the cache does not use pipelines, and JSON and XML feeds do not use each other`() throws {
    #expect(try House.of("Sources/ImageFeed").arrows(from: "Cache", to: "Pipelines") == [])
    let formats = try House.of("Sources/FeedFormats")
    #expect(formats.arrows(from: "JSON", to: "OPML") + formats.arrows(from: "Syndication", to: "JSON") == [])
  }

  @Test func `the poller imports no engine`() throws {
    let house = try House.of("Sources/FeedPolling")
    let modules = Set(house.folders.flatMap { house.imports(in: $0) }.map(\.module))
    #expect(
      modules.isSubset(
        of: [
          "COpenSSL", "FeedFormats", "FeedHTTP", "FeedStream", "Foundation", "ImageFeed", "PlainText",
          "Synchronization",
        ]))
  }

  @Test(arguments: ["Core", "Engine", "Schedulers", "Subjects", "Publishers", "Subscribers", "Operators"])
  func `the stream folders import neither Foundation nor libuv`(_ folder: String) throws {
    let house = try House.of("Sources/FeedStream")
    let imports = house.imports(in: folder)
    #expect(Set(imports.map(\.module)).isSubset(of: ["Synchronization", "CThread", "CLibrary"]))
  }
}

/// One module's folders, the types that each declares and the names that each uses.
private struct House: Sendable {
  struct Import: Equatable {
    let file: String
    let module: String
  }

  private struct File: Sendable {
    let name: String
    let folder: String
    let code: String
    let declared: Set<String>
    /// Names that mean something else in this file: its associated types and generic parameters.
    let local: Set<String>
  }

  private let files: [File]
  /// The folder that declares a name, if only one does.
  private let homes: [String: String]

  static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized

  var folders: Set<String> { Set(files.map(\.folder)) }

  private static let known = Mutex<[String: House]>([:])

  /// Reads a module once for all tests, because reading takes a second or two.
  static func of(_ module: String) throws -> House {
    try known.withLock { houses in
      if let house = houses[module] { return house }
      let house = try House(module)
      houses[module] = house
      return house
    }
  }

  private init(_ module: String) throws {
    let base = Self.root.appending(path: module).path
    var files: [File] = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: base).sorted()
    where path.hasSuffix(".swift") {
      let text = try String(contentsOfFile: base + "/" + path, encoding: .utf8)
      let code = Self.code(of: text)
      files.append(
        File(
          name: path, folder: path.contains("/") ? String(path.prefix { $0 != "/" }) : "", code: code,
          declared: Self.names(in: code, after: /\b(?:class|struct|enum|protocol|actor|typealias)\s+([A-Z]\w+)/),
          local: Self.names(in: code, after: /(?:\bassociatedtype\s+|[<,]\s*)([A-Z]\w+)(?=\s*[:,>=\n])/)))
    }
    try #require(!files.isEmpty)
    self.files = files
    var declaring: [String: Set<String>] = [:]
    for file in files { for name in file.declared { declaring[name, default: []].insert(file.folder) } }
    homes = declaring.compactMapValues { $0.count == 1 ? $0.first : nil }
  }

  /// The names that violate the order, in the form "Core/File.swift names Operators' First".
  func arrows(against order: [String]) -> [String] {
    arrows { from, to in (order.firstIndex(of: to) ?? 0) > (order.firstIndex(of: from) ?? 0) }
  }

  func arrows(from: String, to: String) -> [String] { arrows { $0 == from && $1 == to } }

  private func arrows(where isWrong: (_ from: String, _ to: String) -> Bool) -> [String] {
    files.flatMap { file in
      Self.names(in: file.code, after: /\b([A-Z]\w+)/).subtracting(file.local).subtracting(Self.foreign)
        .compactMap { name in
          guard let home = homes[name], isWrong(file.folder, home) else { return nil }
          return "\(file.name) names \(home)' \(name)"
        }
    }.sorted()
  }

  func imports(in folder: String) -> [Import] {
    files.filter { $0.folder == folder }.flatMap { file in
      file.code.matches(of: /(?m)^\s*(?:\w+ )?import (\w+)/).map { Import(file: file.name, module: String($0.1)) }
    }
  }

  /// Names of our types that the standard library, GRDB or another module uses, too.
  private static let foreign: Set = [
    "Sequence", "Result", "Optional", "Key", "Combine", "Configuration", "Demand", "Element", "Output", "Failure",
  ]

  /// The text without comments and strings.
  private static func code(of text: String) -> String {
    text.replacing(/"""[\s\S]*?"""/, with: "").replacing(/"(?:\\.|[^"\\\n])*"/, with: "")
      .replacing(/\/\/[^\n]*/, with: "")
  }

  private static func names(in code: String, after pattern: Regex<(Substring, Substring)>) -> Set<String> {
    Set(code.matches(of: pattern).map { String($0.1) })
  }
}

extension URL {
  fileprivate func subfolders() throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: self, includingPropertiesForKeys: nil).filter(\.hasDirectoryPath)
  }

  fileprivate func hasSources() throws -> Bool {
    try FileManager.default.subpathsOfDirectory(atPath: path).contains { $0.hasSuffix(".swift") }
  }
}
