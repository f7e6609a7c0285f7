// swift-tools-version: 6.1
import PackageDescription

// The tests of FeedStreamTracing, in a package of their own, so that FeedStream's own tests don't need
// swift-distributed-tracing.
let package = Package(
  name: "FeedStreamTracingTests",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "FeedStream", path: "../..", traits: ["Tracing"]),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.2")),
  ],
  targets: [
    // What docs/how-to/SeeInside.md shows.
    .executableTarget(
      name: "TracedLogs",
      dependencies: [
        .product(name: "FeedHTTPServer", package: "FeedStream"), .product(name: "FeedStream", package: "FeedStream"),
        .product(name: "FeedStreamTracing", package: "FeedStream"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    // What tracing costs, for Scripts/tracing-cost.
    .executableTarget(
      name: "TracingCost",
      dependencies: [
        .product(name: "FeedHTTP", package: "FeedStream"), .product(name: "FeedHTTPServer", package: "FeedStream"),
        .product(name: "FeedStream", package: "FeedStream"), .product(name: "FeedStreamTracing", package: "FeedStream"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    .testTarget(
      name: "FeedStreamTracingTests",
      dependencies: [
        .product(name: "FeedHTTP", package: "FeedStream"), .product(name: "FeedHTTPServer", package: "FeedStream"),
        .product(name: "FeedStream", package: "FeedStream"), .product(name: "FeedStreamTracing", package: "FeedStream"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
      ]),
  ])
