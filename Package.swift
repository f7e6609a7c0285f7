// swift-tools-version: 6.1
import PackageDescription

/// For the streams only, pass `traits: []`: that resolves, downloads and builds nothing but this package. To test streams too,
/// pass `traits: ["Testing"]`, which adds one package; to join them to other libraries,
/// "HTTPTypes", "Lifecycle", "Metrics", "NIO" or "Tracing".
let testing = TargetDependencyCondition.when(traits: ["Testing"])
let httpTypes = TargetDependencyCondition.when(traits: ["HTTPTypes"])
let nio = TargetDependencyCondition.when(traits: ["NIO"])
let lifecycle = TargetDependencyCondition.when(traits: ["Lifecycle"])
let metrics = TargetDependencyCondition.when(traits: ["Metrics"])
let tracing = TargetDependencyCondition.when(traits: ["Tracing"])
let everything = TargetDependencyCondition.when(traits: ["Everything"])

let package = Package(
  name: "FeedStream",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "FeedStream", targets: ["FeedStream"]),
    .library(name: "FeedStreamHTTPTypes", targets: ["FeedStreamHTTPTypes"]),
    .library(name: "FeedStreamLifecycle", targets: ["FeedStreamLifecycle"]),
    .library(name: "FeedStreamMetrics", targets: ["FeedStreamMetrics"]),
    .library(name: "FeedStreamNIO", targets: ["FeedStreamNIO"]),
    .library(name: "FeedStreamTesting", targets: ["FeedStreamTesting"]),
    .library(name: "FeedStreamTracing", targets: ["FeedStreamTracing"]),
    .library(name: "FeedFormats", targets: ["FeedFormats"]),
    .library(name: "FeedHTTP", targets: ["FeedHTTP"]),
    .library(name: "FeedHTTPServer", targets: ["FeedHTTPServer"]),
    .library(name: "FeedHTTPTypes", targets: ["FeedHTTPTypes"]),
    .library(name: "FeedRedis", targets: ["FeedRedis"]),
    .library(name: "FeedFleet", targets: ["FeedFleet"]),
    .library(name: "FeedPolling", targets: ["FeedPolling"]),
    .library(name: "FeedTLS", targets: ["FeedTLS"]),
    .library(name: "FeedWebSocket", targets: ["FeedWebSocket"]),
    .library(name: "ImageFeed", targets: ["ImageFeed"]),
    .library(name: "ImageFeedTesting", targets: ["ImageFeedTesting"]),
    .library(name: "PlainText", targets: ["PlainText"]),
    .executable(name: "feed", targets: ["feed"]),
    // `feed` runs it, and so do programs that decode images with `ImageDecoder`: install it next to the program.
    .executable(name: "image-decoder", targets: ["image-decoder"]),
    .executable(name: "year-of-polling", targets: ["year-of-polling"]),
  ],
  traits: [
    .default(enabledTraits: ["Everything"]),
    .trait(name: "Testing", description: "What the testing kit needs to report failures"),
    .trait(name: "HTTPTypes", description: "swift-http-types, for FeedStreamHTTPTypes; not among everything"),
    .trait(name: "Lifecycle", description: "ServiceLifecycle, for FeedStreamLifecycle; not among everything"),
    .trait(name: "Metrics", description: "swift-metrics, for FeedStreamMetrics; not among everything"),
    .trait(name: "NIO", description: "SwiftNIO, for FeedStreamNIO; not among everything"),
    .trait(
      name: "Tracing",
      description: "swift-distributed-tracing and swift-log, for FeedStreamTracing; not among everything"),
    .trait(
      name: "Everything", description: "What the image feed, the command and the examples need",
      enabledTraits: ["Testing"]),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", .upToNextMinor(from: "7.10.0")),
    .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.83.0"),
    .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.2")),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/pointfreeco/xctest-dynamic-overlay", .upToNextMinor(from: "1.13.1")),
  ],
  targets: [
    .systemLibrary(name: "CThread"),
    // The system's C library, whose module has a different name on each system.
    .target(name: "CLibrary"),
    .systemLibrary(name: "CLibUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    // simdjson behind a few functions of C: nothing else of the package is written in C++.
    .target(name: "CSimdJSON", linkerSettings: [.linkedLibrary("simdjson")]),
    .target(
      name: "FeedStream", dependencies: ["CLibrary", "CLibUV", "CThread"],
      // `Chunk.bytes` is a span whose life is its chunk's.
      swiftSettings: [.enableExperimentalFeature("Lifetimes")]),
    // Nothing without the trait Lifecycle.
    .target(
      name: "FeedStreamLifecycle",
      dependencies: [
        "FeedHTTPServer", "FeedStream",
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: lifecycle),
      ]),
    // Only names without the trait Metrics.
    .target(
      name: "FeedStreamMetrics",
      dependencies: [
        "FeedHTTP", "FeedHTTPServer", "FeedRedis", "FeedStream",
        .product(name: "CoreMetrics", package: "swift-metrics", condition: metrics),
      ]),
    // Nothing without the trait HTTPTypes.
    .target(
      name: "FeedStreamHTTPTypes",
      dependencies: [
        "FeedHTTP", "FeedHTTPServer", "FeedHTTPTypes", "FeedStream",
        .product(name: "HTTPTypes", package: "swift-http-types", condition: httpTypes),
      ]),
    // Nothing without the trait NIO.
    .target(
      name: "FeedStreamNIO",
      dependencies: [
        "FeedStream",
        .product(name: "NIOCore", package: "swift-nio", condition: nio),
        .product(name: "NIOPosix", package: "swift-nio", condition: nio),
      ]),
    // Only the header field without the trait Tracing.
    .target(
      name: "FeedStreamTracing",
      dependencies: [
        "FeedHTTP", "FeedHTTPServer", "FeedStream",
        .product(name: "Logging", package: "swift-log", condition: tracing),
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: tracing),
      ]),
    .target(name: "FeedFormats", dependencies: ["CLibrary", "CSimdJSON"]),
    .target(
      name: "FeedStreamTesting",
      dependencies: [
        "CLibrary", "FeedStream",
        .product(name: "IssueReporting", package: "xctest-dynamic-overlay", condition: testing),
        // Without it, on Linux, a failure is printed and the test passes.
        .product(name: "IssueReportingTestSupport", package: "xctest-dynamic-overlay", condition: testing),
      ]),
    .target(name: "PlainText"),
    // Images in a terminal's characters, and in the protocols of those that show more.
    .target(name: "TerminalImages", dependencies: ["FeedStream", "PlainText"]),
    // HTTP without a database, for programs that don't use feeds.
    .target(
      name: "FeedHTTP",
      dependencies: ["FeedHTTPTypes", "FeedStream", "FeedTLS", "PlainText", "CCurl", "COpenSSL", "CZlib"]),
    .target(name: "FeedHTTPServer", dependencies: ["CLibrary", "FeedHTTPTypes", "FeedStream", "CZlib"]),
    // The vocabulary that client and server share.
    .target(name: "FeedHTTPTypes", dependencies: ["CLibrary", "FeedStream"]),
    // A client of Redis, without feeds.
    .target(name: "FeedRedis", dependencies: ["CLibrary", "FeedStream", "FeedTLS", "PlainText"]),
    .target(name: "FeedTLS", dependencies: ["CLibrary", "FeedStream", "PlainText", "COpenSSL"]),
    // WebSocket, both sides.
    .target(
      name: "FeedWebSocket",
      dependencies: [
        "FeedHTTPServer", "FeedHTTPTypes", "FeedStream", "FeedTLS", "PlainText", "COpenSSL", "CZlib",
      ]),
    .target(
      name: "ImageFeed",
      dependencies: [
        "COpenSSL", "FeedFormats", "FeedHTTP", "FeedStream", "PlainText",
        .product(name: "GRDB", package: "GRDB.swift", condition: everything),
        .product(name: "GRDBSQLite", package: "GRDB.swift", condition: everything),
      ]),
    // One poller, for one machine and for many.
    .target(
      name: "FeedPolling",
      dependencies: ["COpenSSL", "FeedFormats", "FeedHTTP", "FeedStream", "ImageFeed", "PlainText"]),
    // What several machines share, on an engine that exists.
    .target(
      name: "FeedFleet",
      dependencies: ["FeedFormats", "FeedHTTP", "FeedPolling", "FeedRedis", "FeedStream", "ImageFeed"]),
    .target(name: "ImageFeedTesting", dependencies: ["FeedPolling", "FeedStream", "FeedStreamTesting", "ImageFeed"]),
    .target(
      name: "Samples", path: "Examples/Samples",
      exclude: ["blog.xml", "case-study.json", "channel.xml", "journal.json"]),
    .target(
      name: "PollingWorld",
      dependencies: ["FeedPolling", "FeedStream", "FeedStreamTesting", "ImageFeed", "ImageFeedTesting"],
      path: "Examples/PollingWorld"),
    .executableTarget(
      name: "year-of-polling",
      dependencies: [
        "PollingWorld", .product(name: "ArgumentParser", package: "swift-argument-parser", condition: everything),
      ],
      path: "Examples/year-of-polling"),
    .executableTarget(
      name: "feed",
      dependencies: [
        "CZlib", "FeedFleet", "FeedFormats", "FeedHTTP", "FeedHTTPServer", "FeedRedis", "FeedStream",
        "FeedStreamMetrics", "FeedStreamTracing", "ImageFeed", "PlainText",
        "Samples", "TerminalImages",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: everything),
        .product(name: "Logging", package: "swift-log", condition: everything),
      ],
      path: "Examples/feed"),
    // Decodes untrusted images in an unprivileged sandbox; `feed` looks for it next to itself.
    .executableTarget(
      name: "image-decoder",
      linkerSettings: [
        .linkedLibrary("avif"), .linkedLibrary("jpeg"), .linkedLibrary("spng"), .linkedLibrary("webp"),
        .linkedLibrary("webpdemux"),
      ]),
    .executableTarget(
      name: "LoadAndShow", dependencies: ["FeedStream", "ImageFeed", "PlainText"], path: "Examples/LoadAndShow"),
    .executableTarget(
      name: "YourOwnFormat", dependencies: ["FeedFormats", "FeedStream", "ImageFeed", "PlainText"],
      path: "Examples/YourOwnFormat"),
    .executableTarget(
      name: "LiveEvents", dependencies: ["FeedHTTPServer", "FeedStream"], path: "Examples/LiveEvents"),
    .executableTarget(
      name: "WebSocketEcho", dependencies: ["FeedHTTPServer", "FeedStream", "FeedWebSocket"],
      path: "Examples/WebSocketEcho"),
    .executableTarget(
      name: "StuckStreams", dependencies: ["FeedHTTPServer", "FeedStream"], path: "Examples/StuckStreams"),
    .executableTarget(name: "Fetch", dependencies: ["FeedHTTP", "FeedStream"], path: "Examples/Fetch"),
    .executableTarget(
      name: "TodoServer",
      dependencies: [
        "FeedHTTPServer", "FeedStream",
        .product(name: "GRDB", package: "GRDB.swift", condition: everything),
      ],
      path: "Examples/TodoServer"),
    // A sample program for each handle of the loop, all in one, so that it is linked once.
    .executableTarget(name: "Handles", dependencies: ["CLibrary", "FeedStream"], path: "Examples/Handles"),
    .executableTarget(name: "SearchField", dependencies: ["FeedStream"], path: "Examples/SearchField"),
    .target(name: "TestingASearch", dependencies: ["FeedStream"], path: "Examples/TestingASearch/Sources"),
    .testTarget(
      name: "TestingASearchTests",
      dependencies: ["TestSupport", "FeedStream", "FeedStreamTesting", "TestingASearch"],
      path: "Examples/TestingASearch/TestingASearchTests"),
    .executableTarget(name: "ZipTwoLoads", dependencies: ["FeedStream", "ImageFeed"], path: "Examples/ZipTwoLoads"),
    // What the article "Getting started" builds, step by step.
    .target(name: "Search", dependencies: ["FeedStream"], path: "Examples/Tutorial/Sources/Search"),
    .executableTarget(
      name: "TypeAndSearch", dependencies: ["FeedStream", "Search"], path: "Examples/Tutorial/Sources/TypeAndSearch"),
    .testTarget(
      name: "SearchTests", dependencies: ["FeedStream", "FeedStreamTesting", "Search"],
      path: "Examples/Tutorial/SearchTests"),
    .executableTarget(
      name: "ShowFeed", dependencies: ["FeedStream", "ImageFeed"], path: "Examples/Tutorial/Sources/ShowFeed"),
    .executableTarget(
      name: "CountVisits", dependencies: ["FeedHTTPServer", "FeedStream"],
      path: "Examples/Tutorial/Sources/CountVisits"),
    .executableTarget(
      name: "CombineCountdown", dependencies: ["FeedStream"], path: "Examples/FromCombine/CombineCountdown"),
    .executableTarget(
      name: "CombineSearchField", dependencies: ["FeedStream"], path: "Examples/FromCombine/CombineSearchField"),
    .executableTarget(
      name: "CombineTwoLoads", dependencies: ["FeedStream"], path: "Examples/FromCombine/CombineTwoLoads"),
    .testTarget(name: "FeedStreamTests", dependencies: ["TestSupport", "FeedStream", "FeedStreamTesting"]),
    // A separate target, because its tests take the longest.
    .testTarget(name: "RuleTests", dependencies: ["TestSupport", "FeedStream", "FeedStreamTesting"]),
    .testTarget(
      name: "FeedStreamTestingTests",
      dependencies: [
        "TestSupport",
        "FeedStream", "FeedStreamTesting",
        .product(name: "IssueReporting", package: "xctest-dynamic-overlay", condition: testing),
      ]),
    .testTarget(name: "DiagramTests", dependencies: ["TestSupport", "FeedStream", "FeedStreamTesting"]),
    .testTarget(
      name: "ImageFeedTestingTests",
      dependencies: [
        "TestSupport", "FeedHTTP", "FeedStream", "FeedStreamTesting", "ImageFeed", "ImageFeedTesting", "PollingWorld",
      ]),
    // Compiles what the pages and comments show.
    .testTarget(
      name: "SnippetTests",
      dependencies: [
        "TestSupport", "FeedFleet", "FeedFormats", "FeedHTTP", "FeedHTTPServer", "FeedPolling", "FeedRedis",
        "FeedStream",
        "FeedStreamTesting", "FeedTLS", "FeedWebSocket", "ImageFeed", "ImageFeedTesting",
      ]),
    .testTarget(name: "EventLoopTests", dependencies: ["CLibrary", "TestSupport", "FeedStream", "Handles"]),
    .testTarget(
      name: "TodoServerTests",
      dependencies: ["TestSupport", "FeedHTTPServer", "FeedStream", "FeedStreamTesting", "TodoServer"]),
    .testTarget(
      name: "FeedHTTPServerTests",
      dependencies: ["TestSupport", "FeedStream", "FeedStreamTesting", "FeedHTTPServer", "CZlib"]),
    .testTarget(
      name: "FeedRedisTests",
      dependencies: ["TestSupport", "RedisTestSupport", "FeedRedis", "FeedStream", "FeedStreamTesting", "FeedTLS"]),
    .testTarget(
      name: "FeedFleetTests",
      dependencies: [
        "TestSupport", "HTTPTestSupport", "RedisTestSupport", "FeedFleet", "FeedFormats", "FeedHTTP", "FeedPolling",
        "FeedRedis",
        "FeedStream", "FeedStreamTesting", "ImageFeed", "ImageFeedTesting",
      ]),
    // Real servers, for the folders of tests that talk to one.
    .target(name: "RedisTestSupport", dependencies: ["FeedRedis", "TestSupport"], path: "Tests/RedisSupport"),
    .testTarget(
      name: "FeedTLSTests",
      dependencies: ["TestSupport", "COpenSSL", "FeedStream", "FeedStreamTesting", "FeedHTTPServer", "FeedTLS"]),
    .testTarget(
      name: "FeedWebSocketTests",
      dependencies: [
        "TestSupport", "CZlib", "FeedHTTPServer", "FeedStream", "FeedStreamTesting", "FeedTLS", "FeedWebSocket",
        "WebSocketEcho",
      ]),
    .testTarget(name: "FeedFormatsTests", dependencies: ["TestSupport", "FeedFormats"]),
    .testTarget(
      name: "TerminalImagesTests",
      dependencies: ["TestSupport", "FeedStream", "FeedStreamTesting", "PlainText", "TerminalImages"]),
    // What Scripts/test-feedparser compares with.
    .executableTarget(name: "InspectFeeds", dependencies: ["FeedFormats"], path: "Tests/InspectFeeds"),
    .testTarget(
      name: "ImageFeedTests",
      dependencies: [
        "TestSupport", "HTTPTestSupport", "RedisTestSupport",
        "FeedFleet", "FeedFormats", "FeedHTTP", "FeedPolling", "FeedRedis", "ImageFeed", "FeedStream",
        "FeedStreamTesting",
        "ImageFeedTesting", "PlainText",
        "Samples",
        "feed",
        .product(name: "GRDB", package: "GRDB.swift", condition: everything),
      ]),
    .testTarget(
      name: "FeedHTTPTests",
      dependencies: [
        "TestSupport", "HTTPTestSupport", "FeedHTTP", "FeedHTTPServer", "FeedStream", "FeedStreamTesting", "FeedTLS",
        "PlainText", "Fetch",
      ],
      // The tests put a lookup of names of their own before the system's (`StuckNames`).
      linkerSettings: [.unsafeFlags(["-Xlinker", "--export-dynamic-symbol=getaddrinfo"], .when(platforms: [.linux]))]),
    // Origins below HTTP, and clients that are watched, for the folders of tests that have a network.
    .target(
      name: "HTTPTestSupport", dependencies: ["FeedHTTP", "FeedStream", "TestSupport"], path: "Tests/HTTPSupport"),
    // What folders of tests share: what tests leave open in their process, and programs of this package as processes.
    .target(name: "TestSupport", dependencies: ["FeedStream"], path: "Tests/Support"),
    .testTarget(
      name: "FaultTests",
      dependencies: [
        "TestSupport",
        "feed", "FeedHTTPServer", "FeedStream", "ImageFeed", "ImageFeedTesting",
        .product(name: "GRDB", package: "GRDB.swift", condition: everything),
      ],
      // The tests build it themselves: it is preloaded into `feed`, not linked to them.
      exclude: ["Support/faults.c"]),
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "TestSupport", "HTTPTestSupport", "RedisTestSupport",
        "feed", "image-decoder", "LiveEvents", "LoadAndShow", "SearchField", "YourOwnFormat", "ZipTwoLoads",
        "TypeAndSearch", "ShowFeed", "StuckStreams", "TodoServer", "year-of-polling",
        "CountVisits", "CombineCountdown", "CombineSearchField", "CombineTwoLoads", "FeedHTTPServer", "FeedPolling",
        "FeedStream", "ImageFeed",
        "PlainText", "Samples", "TerminalImages", "FeedStreamTesting", "ImageFeedTesting",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: everything),
        .product(name: "GRDB", package: "GRDB.swift", condition: everything),
      ]),
  ])

// FEEDSTREAM_ONLY=FeedStreamTests,EventLoopTests builds what these targets need and nothing else: an edit of the streams is
// tested without building the feed, the command and their tests.
if let only = Context.environment["FEEDSTREAM_ONLY"] {
  var needed: Set<String> = []
  var products: Set<String> = []
  func need(_ name: String) {
    guard let target = package.targets.first(where: { $0.name == name }), needed.insert(name).inserted else { return }
    for dependency in target.dependencies {
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _): need(name)
      case .productItem(_, let package, _, _): if let package { products.insert(package) }
      @unknown default: break
      }
    }
  }
  for name in only.split(separator: ",") { need(String(name)) }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products = []
  package.dependencies.removeAll { dependency in
    if case .sourceControl(_, let location, _) = dependency.kind {
      return !products.contains { location.hasSuffix($0) }
    }
    return false
  }
}
