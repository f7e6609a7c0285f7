// swift-tools-version: 6.1
import PackageDescription

// The tests of FeedStreamLifecycle, in a package of their own, so that FeedStream's own tests don't need
// ServiceLifecycle.
let package = Package(
  name: "FeedStreamLifecycleTests",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "FeedStream", path: "../..", traits: ["Lifecycle"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // Started and stopped by Scripts/test-stop.
    .executableTarget(
      name: "GracefulServer",
      dependencies: [
        .product(name: "FeedHTTPServer", package: "FeedStream"), .product(name: "FeedStream", package: "FeedStream"),
        .product(name: "FeedStreamLifecycle", package: "FeedStream"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .testTarget(
      name: "FeedStreamLifecycleTests",
      dependencies: [
        .product(name: "FeedHTTPServer", package: "FeedStream"), .product(name: "FeedStream", package: "FeedStream"),
        .product(name: "FeedStreamLifecycle", package: "FeedStream"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
      ]),
  ])
