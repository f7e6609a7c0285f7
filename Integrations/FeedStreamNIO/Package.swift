// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that FeedStream depends on SwiftNIO for nobody else.
let package = Package(
  name: "FeedStreamNIO",
  platforms: [.macOS(.v15)],
  products: [.library(name: "FeedStreamNIO", targets: ["FeedStreamNIO"])],
  dependencies: [
    .package(name: "FeedStream", path: "../..", traits: []),
    .package(url: "https://github.com/apple/swift-nio", from: "2.83.0"),
  ],
  targets: [
    .target(
      name: "FeedStreamNIO",
      dependencies: [
        .product(name: "FeedStream", package: "FeedStream"), .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ]),
    .testTarget(
      name: "FeedStreamNIOTests",
      dependencies: ["FeedStreamNIO", .product(name: "NIOEmbedded", package: "swift-nio")]),
  ])
