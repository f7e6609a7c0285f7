// swift-tools-version: 6.0
import PackageDescription

// A package of its own, so that the library depends on nothing that only a measurement needs. Plain executables: every
// figure here is a ratio of contenders measured in turn within one run, which a table of absolute times does not give.
let subject = Target.Dependency.product(name: "FeedStream", package: "FeedStream")

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "FeedStream", path: ".."),
    .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0"),
    .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
    .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
  ],
  targets: [
    // Counts allocations: its malloc takes the C library's place in the executable.
    .target(name: "CMalloc", cSettings: [.unsafeFlags(["-O2"])]),
    .target(name: "Harness", dependencies: ["CMalloc"]),
    // The pipelines, written once: OnOpenCombine's sources are links to OnFeedStream's.
    .target(name: "OnFeedStream", dependencies: ["Harness", subject], swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(
      name: "OnOpenCombine", dependencies: ["Harness", .product(name: "OpenCombine", package: "OpenCombine")],
      swiftSettings: [.swiftLanguageMode(.v5), .define("ON_OPENCOMBINE")]),
    .target(
      name: "OnAsyncAlgorithms",
      dependencies: ["Harness", .product(name: "AsyncAlgorithms", package: "swift-async-algorithms")],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(name: "HandWritten", dependencies: ["Harness"], swiftSettings: [.swiftLanguageMode(.v5)]),
    .executableTarget(
      name: "streams", dependencies: ["Harness", "OnFeedStream", "OnOpenCombine", "OnAsyncAlgorithms", "HandWritten"],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    // What an operator does to what is above it: see the script `downstream`.
    .executableTarget(
      name: "downstream", dependencies: ["Harness", subject], swiftSettings: [.swiftLanguageMode(.v5)]),
    .executableTarget(
      name: "cores",
      dependencies: [
        "Harness", "CIO", subject, .product(name: "FeedFormats", package: "FeedStream"),
        .product(name: "FeedHTTPServer", package: "FeedStream"), .product(name: "ImageFeed", package: "FeedStream"),
        // Built with it: the program that sizes images.
        .product(name: "image-decoder", package: "FeedStream"),
      ], swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(name: "CLoop", cSettings: [.unsafeFlags(["-O2"])], linkerSettings: [.linkedLibrary("uv")]),
    .executableTarget(
      name: "loop",
      dependencies: [
        "Harness", "CLoop", subject, .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
      ], swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(
      name: "CIO", cSettings: [.unsafeFlags(["-O2", "-D_GNU_SOURCE"])],
      linkerSettings: [.linkedLibrary("uv"), .linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .executableTarget(
      name: "io",
      dependencies: [
        "Harness", "CIO", subject, .product(name: "FeedHTTPServer", package: "FeedStream"),
        .product(name: "FeedTLS", package: "FeedStream"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
      ], swiftSettings: [.swiftLanguageMode(.v5)]),
    // See the script `web`.
    .executableTarget(
      name: "web",
      dependencies: [
        "CIO", subject, .product(name: "FeedHTTP", package: "FeedStream"),
        .product(name: "FeedHTTPServer", package: "FeedStream"),
        .product(name: "FeedWebSocket", package: "FeedStream"),
      ], swiftSettings: [.swiftLanguageMode(.v5)]),
    // Besides hiredis in C, a program of its own: see the script `redis`.
    .executableTarget(
      name: "redis-commands", dependencies: [subject, .product(name: "FeedRedis", package: "FeedStream")],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(name: "CStore", cSettings: [.unsafeFlags(["-O2"])], linkerSettings: [.linkedLibrary("sqlite3")]),
    .executableTarget(
      name: "store", dependencies: ["Harness", "CStore", .product(name: "ImageFeed", package: "FeedStream")],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(
      name: "CHTTP", cSettings: [.unsafeFlags(["-O2"])],
      linkerSettings: [.linkedLibrary("uv"), .linkedLibrary("curl")]),
    .executableTarget(
      name: "http",
      dependencies: ["Harness", "CHTTP", "Tasks", subject, .product(name: "ImageFeed", package: "FeedStream")],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(name: "Tasks", dependencies: ["Harness"], swiftSettings: [.swiftLanguageMode(.v5)]),
    .executableTarget(
      name: "async-http-client",
      dependencies: ["Tasks", .product(name: "AsyncHTTPClient", package: "async-http-client")],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .executableTarget(
      name: "scale", dependencies: ["Harness", subject, .product(name: "ImageFeed", package: "FeedStream")],
      swiftSettings: [.swiftLanguageMode(.v5)]),
  ])
