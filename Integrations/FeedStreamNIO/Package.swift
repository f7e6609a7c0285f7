// swift-tools-version: 6.1
import PackageDescription

// The tests of FeedStreamNIO, in a package of their own, so that FeedStream's own tests don't need SwiftNIO.
let package = Package(
  name: "FeedStreamNIOTests",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "FeedStream", path: "../..", traits: ["NIO"]),
    .package(url: "https://github.com/apple/swift-nio", from: "2.83.0"),
  ],
  targets: [
    .testTarget(
      name: "FeedStreamNIOTests",
      dependencies: [
        .product(name: "FeedStream", package: "FeedStream"), .product(name: "FeedStreamNIO", package: "FeedStream"),
        .product(name: "NIOEmbedded", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ])
  ])
