import Foundation
import TestSupport

/// Compiles snippets as a user's package would: in the Swift 6 language mode, against the modules of this build.
struct SnippetCompiler {
  let project: URL
  /// The folder of the build's modules and objects.
  let products: URL
  let folder: URL

  /// Every snippet becomes a function in its own file; extensions of types go to the top of that file.
  func source(of snippet: Snippet, number: Int) -> String {
    let lines = snippet.code.split(separator: "\n", omittingEmptySubsequences: false)
    let body = lines.map { $0.hasPrefix("import ") ? "" : String($0) }.joined(separator: "\n")
    let context = contexts[String(snippet.file.split(separator: "/").last ?? "")] ?? ""
    let isOfTheFile = { (text: String) in text.contains(#/(?m)^(?:public )?extension /#) }
    let place = "#sourceLocation(file: \"\(snippet.file)\", line: \(snippet.line))\n"
    let end = "\n#sourceLocation()\n"
    var text = Self.imports
    if isOfTheFile(context) { text += context + "\n" }
    if isOfTheFile(body) { return text + place + body + end }
    let inner = isOfTheFile(context) ? "" : context + "\n"
    if body.contains("@Test ") { return text + "struct Suite\(number) {\n" + inner + place + body + end + "}\n" }
    let declares = body.contains(#/^(?:@MainActor |final |nonisolated )*(?:actor|func|struct|class) /#)
    let effects = body.contains("await ") && !declares ? "async throws" : "throws"
    return text + "func snippet\(number)(\(Self.parameters)) \(effects) {\n" + inner + place + body + end + "}\n"
  }

  /// - Returns: the compiler's errors, without warnings.
  func check(_ snippets: [Snippet]) async throws -> String {
    var files: [String] = []
    for (number, snippet) in snippets.enumerated() {
      let file = folder.appending(path: "s\(number).swift")
      try source(of: snippet, number: number).write(to: file, atomically: false, encoding: .utf8)
      files.append(quoted(file.path))
    }
    // Compile up to the checks for data races, without writing anything.
    return try await ChildProcess.shell(
      "cd \(quoted(folder.path)) && swiftc -wmo -emit-sil -o /dev/null -suppress-warnings -module-name Snippets "
        + "\(options) \(files.joined(separator: " ")) 2>&1")
  }

  /// Builds a program of snippets that need nothing but `FeedStream`, and runs each.
  ///
  /// - Returns: the lines that each writes.
  func run(_ snippets: [Snippet]) async throws -> [String] {
    var main = "import Foundation\nswitch CommandLine.arguments[1] {\n"
    var files: [String] = []
    for (number, snippet) in snippets.enumerated() {
      let file = folder.appending(path: "run\(number).swift")
      let body = snippet.code.replacing(/(?m)^import .*$/, with: "")
      try "import FeedStream\nimport Foundation\nfunc run\(number)() throws {\n\(body)\n}\n".write(
        to: file, atomically: false, encoding: .utf8)
      main += "case \"\(number)\": try run\(number)()\n"
      files.append(quoted(file.path))
    }
    let entry = folder.appending(path: "main.swift")
    try (main + "default: break\n}\n").write(to: entry, atomically: false, encoding: .utf8)
    let objects = try self.objects().map(quoted).joined(separator: " ")
    let said = try await ChildProcess.shell(
      "cd \(quoted(folder.path)) && swiftc -Onone -suppress-warnings -module-name Snippets -o program \(options) "
        + "\(quoted(entry.path)) \(files.joined(separator: " ")) \(objects) -luv 2>&1")
    guard !said.contains("error:") else { return [said] }
    var outputs: [String] = []
    for number in snippets.indices {
      outputs.append(try await ChildProcess.shell("cd \(quoted(folder.path)) && timeout 30 ./program \(number) 2>&1"))
    }
    return outputs
  }

  /// The objects of FeedStream, without those of deleted files, which a build leaves behind.
  private func objects() throws -> [String] {
    let sources = try FileManager.default.subpathsOfDirectory(
      atPath: project.appending(path: "Sources/FeedStream").path)
    let names = Set(sources.map { $0.split(separator: "/").last.map(String.init) ?? $0 })
    let folder = products.appending(path: "FeedStream.build")
    return try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".o") && names.contains(String($0.dropLast(2))) }
      .map { folder.appending(path: $0).path }
  }

  /// Compiles the contents of a package's manifest.
  func checkManifest(_ code: String) async throws -> String {
    let part = trimmed(code)
    let arguments =
      part.hasPrefix(".package(") ? "dependencies: [\(part)]" : part.hasPrefix(".") ? "targets: [\(part)]" : part
    let isWhole = code.contains("import PackageDescription")
    let text = isWhole ? code : "import PackageDescription\nlet package = Package(name: \"App\", \(arguments))\n"
    let file = folder.appending(path: "Package.swift")
    try text.write(to: file, atomically: false, encoding: .utf8)
    return try await ChildProcess.shell(
      """
      tool=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")"); cd \(quoted(folder.path)) && \
      swiftc -typecheck -swift-version 6 -package-description-version 6.1.0 \
      -I "$tool/lib/swift/pm/ManifestAPI" Package.swift 2>&1
      """)
  }

  private func trimmed(_ code: String) -> String {
    let text = code.trimmingCharacters(in: .whitespacesAndNewlines)
    return text.hasSuffix(",") ? String(text.dropLast()) : text
  }

  private var options: String {
    var maps = ["CLibUV", "CThread", "COpenSSL", "CCurl", "CZlib"].map {
      project.appending(path: "Sources/\($0)/module.modulemap")
    }
    maps.append(products.appending(path: "CSimdJSON.build/module.modulemap"))
    maps.append(project.appending(path: ".build/checkouts/GRDB.swift/Sources/GRDBSQLite/module.modulemap"))
    let present = maps.filter { FileManager.default.fileExists(atPath: $0.path) }
    return
      "-swift-version 6 -module-cache-path \(quoted(products.appending(path: "ModuleCache").path)) "
      + "-I \(quoted(products.appending(path: "Modules").path)) "
      + "-plugin-path \"$(dirname \"$(dirname \"$(readlink -f \"$(command -v swiftc)\")\")\")/lib/swift/host/plugins/testing\" "
      + present.map { "-Xcc \(quoted("-fmodule-map-file=\($0.path)"))" }.joined(separator: " ")
  }

  private func quoted(_ text: String) -> String { "'\(text)'" }

  private static let imports = [
    "FeedStream", "FeedStreamTesting", "FeedHTTP", "FeedHTTPServer", "FeedFormats", "FeedPolling", "FeedRedis",
    "FeedFleet", "FeedTLS",
    "FeedWebSocket",
    "ImageFeed", "ImageFeedTesting", "Foundation", "Testing",
  ].map { "import \($0)\n" }.joined()

  private static let parameters =
    "loop: EventLoop, time: VirtualTimeScheduler, url: URL, connection: Connection, server: HTTPServer, "
    + "client: any HTTPClient, cache: FeedCache, addresses: [URL]"
}
