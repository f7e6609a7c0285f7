// swift-tools-version: 6.1
import PackageDescription

// The tests of FeedStreamMetrics, in a package of their own, so that FeedStream's own tests don't need swift-metrics.
let package = Package(
  name: "FeedStreamMetricsTests",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "FeedStream", path: "../..", traits: ["Metrics"]),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
  ],
  targets: [
    .testTarget(
      name: "FeedStreamMetricsTests",
      dependencies: [
        .product(name: "FeedHTTP", package: "FeedStream"), .product(name: "FeedHTTPServer", package: "FeedStream"),
        .product(name: "FeedRedis", package: "FeedStream"),
        .product(name: "FeedStream", package: "FeedStream"), .product(name: "FeedStreamMetrics", package: "FeedStream"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
      ])
  ])
