// swift-tools-version: 6.1
import PackageDescription

// The tests of FeedStreamHTTPTypes, in a package of their own, so that FeedStream's own tests don't need swift-http-types.
let package = Package(
  name: "FeedStreamHTTPTypesTests",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "FeedStream", path: "../..", traits: [.defaults, "HTTPTypes"]),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
  ],
  targets: [
    .testTarget(
      name: "FeedStreamHTTPTypesTests",
      dependencies: [
        .product(name: "FeedHTTP", package: "FeedStream"), .product(name: "FeedHTTPServer", package: "FeedStream"),
        .product(name: "FeedStreamHTTPTypes", package: "FeedStream"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ])
  ])
