import FeedFormats
import FeedHTTP
import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// Every piece of Swift in the README, the pages, the articles and the comments compiles, and prints the stated output.
@Suite(.settled, .disabled(if: Sanitizer.current != nil, "compiled without a sanitizer")) struct SnippetTests {
  private static let project = URL(filePath: #filePath).resolvingSymlinksInPath().appending(path: "../../..")
    .standardized

  private func withCompiler<R>(_ body: (SnippetCompiler) async throws -> R) async throws -> R {
    let folder = TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let products = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    return try await body(
      SnippetCompiler(project: Self.project, products: products, folder: URL(filePath: folder.path)))
  }

  /// The snippets that aren't in a Swift file of the project, which the build compiles already.
  private func loose() throws -> [Snippet] {
    func plain(_ text: String) -> String {
      text.split(separator: "\n", omittingEmptySubsequences: true).map { $0.trimmingCharacters(in: [" "]) }
        .joined(separator: "\n")
    }
    let files = try Snippet.files(in: Self.project, ["Sources", "Examples", "Tests", "Integrations"], ending: ".swift")
    let built = try files.map { plain(try String(contentsOf: Self.project.appending(path: $0), encoding: .utf8)) }
    return try Snippet.all(in: Self.project).filter { snippet in
      let code = plain(snippet.code)
      return !built.contains { $0.contains(code) }
    }
  }

  private static func isManifest(_ snippet: Snippet) -> Bool {
    snippet.code.contains("import PackageDescription")
      || ["dependencies: [", ".package(", ".executableTarget(", ".testTarget("].contains { snippet.code.hasPrefix($0) }
  }

  @Test func `the check finds the snippets`() throws {
    let all = try Snippet.all(in: Self.project)
    #expect(all.count { $0.file.hasSuffix(".md") } > 30)
    #expect(all.count { $0.file.hasSuffix(".swift") } > 40)
    #expect(all.contains { $0.file == "README.md" })
  }

  @Test func `every snippet compiles`() async throws {
    let snippets = try loose().filter { !Self.isManifest($0) }
    let said = try await withCompiler { try await $0.check(snippets) }
    let errors = said.split(separator: "\n").filter { $0.contains(#/^[^ ].*: error: /#) }
    #expect(errors.isEmpty, "\(errors.joined(separator: "\n"))")
    #expect(said.isEmpty, "\(said.prefix(2000))")
  }

  @Test func `every package manifest in the pages compiles`() async throws {
    let manifests = try loose().filter(Self.isManifest)
    #expect(manifests.count >= 2)
    for manifest in manifests {
      let said = try await withCompiler { try await $0.checkManifest(manifest.code) }
      #expect(said.isEmpty, "\(manifest.file):\(manifest.line): \(said)")
    }
  }

  /// `// Prints "a", "b"`: the lines that a snippet writes.
  @Test func `each snippet prints what its comment says`() async throws {
    func expected(_ snippet: Snippet) -> [String] {
      snippet.code.matches(of: /\/\/ Prints (.*)/)
        .flatMap { $0.1.matches(of: /"([^"]*)"/).map { String($0.1) } }
    }
    let snippets = try Snippet.all(in: Self.project).filter { !expected($0).isEmpty }
    #expect(snippets.count >= 4)
    let outputs = try await withCompiler { try await $0.run(snippets) }
    try #require(outputs.count == snippets.count, "\(outputs)")
    for (snippet, output) in zip(snippets, outputs) {
      let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
      #expect(lines == expected(snippet), "\(snippet.file):\(snippet.line)")
    }
  }

  @Test func `every type that a how-to guide names is public`() throws {
    func text(_ file: String) throws -> String {
      try String(contentsOf: Self.project.appending(path: file), encoding: .utf8)
    }
    // Types of other libraries.
    let foreign: Set = [
      "AsyncMiddleware", "ErrorMiddleware", "HTTPClientRequest", "InstrumentationSystem", "LoggingSystem",
      "RedirectConfiguration", "ResponseEncodable", "RouterMiddleware", "ServiceGroup",
    ]
    let lists = try Snippet.files(in: Self.project, ["docs/API"], ending: ".txt")
    let declared = try (lists + ["Package.swift"]).map(text).joined(separator: "\n")
    let known = foreign.union(declared.matches(of: /[A-Z]\w+/).map { String($0.output) })
    var count = 0
    for file in try Snippet.files(in: Self.project, ["docs/how-to"], ending: ".md") {
      // Without the blocks of code, which are compiled.
      let parts = try text(file).components(separatedBy: "```").enumerated()
      let prose = parts.filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined()
      for code in prose.matches(of: /`([^`\n]+)`/).map(\.output.1) where !code.contains("/") {
        for word in code.matches(of: /(?:^|[^\w.])([A-Z]+[a-z]+[A-Z]\w*|[A-Z]{2,}[a-z]\w*)/).map(\.output.1) {
          count += 1
          #expect(known.contains(String(word)), "\(file): \(word)")
        }
      }
    }
    #expect(count > 50)
  }

  @Test func `a snippet that doesn't compile is reported with its file and line`() async throws {
    let wrong = Snippet(file: "README.md", line: 7, code: "let number: Int = \"seven\"")
    let sent = Snippet(
      file: "docs/Sent.md", line: 3,
      code: "let subject = PassthroughSubject<Int, Never>()\nloop.execute { subject.send(1) }")
    let said = try await withCompiler { try await $0.check([wrong]) }
    #expect(said.contains("README.md:7:19: error: "))
    let race = try await withCompiler { try await $0.check([sent]) }
    #expect(race.contains("docs/Sent.md:4:16: error: "))
  }

  @Test func `a mistake that newcomers make is reported with what to write instead`() async throws {
    let failing = "let values = PassthroughSubject<Int, URLError>()\n"
    let search = "func search(_ text: String) async throws -> String { text }\n"
    let mistakes = [
      (
        failing + "_ = values.sink { print($0) }",
        "use sink(receiveCompletion:receiveValue:), or handle the failure first"
      ),
      (
        "final class Model { var count = 0 }\n" + failing + "_ = values.assign(to: \\.count, on: Model())",
        "this stream can fail; handle the failure first"
      ),
      ("_ = Just(1).flatMap { [$0, $0] }", "flatMap needs a publisher; return the sequence's .publisher"),
      (
        search + "_ = Just(\"a\").flatMapLatest { try await search($0) }.sink { _ in } receiveValue: { print($0) }",
        "flatMapLatest needs a publisher; for asynchronous code, return Future { await … }"
      ),
      (search + "_ = Just(\"a\").flatMap { try await search($0) }", "asynchronous code, return Future { await … }"),
      (search + "_ = Just(\"a\").map { try await search($0) }", "for asynchronous code, use mapAsync(limit:)"),
      (search + "_ = Just(\"a\").mapAsync { try await search($0) }", "tryMapAsync(limit: 4) if they throw"),
      (
        "let group = try EventLoopGroup()\nfunc half(_ n: Int) throws -> Int { n / 2 }\n"
          + "_ = Just(1).parallelMap(on: group) { try half($0) }",
        "for code that throws, use tryParallelMap"
      ),
      (
        "_ = NotificationCenter.default.publisher(for: .init(\"changed\")).sink { print($0) }",
        "use Create: add an observer in its closure"
      ),
      (
        failing + "_ = values.flatMap { _ in Fail<Int, HTTPError>(error: HTTPError(.connect, host: \"\")) }",
        "the two streams fail with different errors; write mapError or eraseFailureType()"
      ),
      (
        "let values: AnyPublisher<Int, Never> = Just(1).filter { $0 > 0 }.flatMap { Just($0) }",
        "cannot convert value of type 'Publishers.FlatMap<"
      ),
      ("_ = Just(1).take(1).startWith(0)", "'take' has been renamed to 'prefix(_:)'"),
      ("_ = Just(1).startWith(0)", "'startWith' has been renamed to 'prepend(_:)'"),
      ("_ = Just(1).distinctUntilChanged()", "'distinctUntilChanged()' has been renamed to 'removeDuplicates()'"),
      ("_ = Just(1).subscribe(onNext: { print($0) })", "use sink(receiveCompletion:receiveValue:)"),
      ("_ = Just(1).tap { print($0) }", "'tap' has been renamed to 'handleEvents(receiveOutput:)'"),
      ("_ = Just(1).asyncMap { $0 + 1 }", "'asyncMap' has been renamed to 'mapAsync(_:)'"),
      ("_ = Just(1).toArray()", "'toArray()' has been renamed to 'collect()'"),
      ("_ = Just(1).mergeMap { Just($0) }", "'mergeMap' has been renamed to 'flatMap(_:)'"),
      ("PassthroughSubject<Int, Never>().complete()", "use send(completion: .finished)"),
      ("PassthroughSubject<Int, Never>().onNext(1)", "'onNext' has been renamed to 'send(_:)'"),
    ]
    let snippets = mistakes.enumerated().map { Snippet(file: "Mistake\($0).md", line: 1, code: $1.0) }
    let said = try await withCompiler { try await $0.check(snippets) }
    for (number, mistake) in mistakes.enumerated() {
      let about = said.split(separator: "\n").filter { $0.contains("Mistake\(number).md") && $0.contains("error: ") }
      #expect(about.contains { $0.contains(mistake.1) }, "\(mistake.0): \(about)")
    }
  }
}
