// swift-tools-version: 6.1
import PackageDescription

// A package of its own: only the benchmark of HTTP servers needs these two, and they take minutes to build.
let package = Package(
  name: "Servers",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.0.0"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.20.0"),
  ],
  targets: [
    .executableTarget(
      name: "hummingbird-server", dependencies: [.product(name: "Hummingbird", package: "hummingbird")]),
    .executableTarget(name: "flyingfox-server", dependencies: [.product(name: "FlyingFox", package: "FlyingFox")]),
  ])
