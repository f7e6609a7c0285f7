// swift-tools-version: 6.0
import PackageDescription

// A package of its own: only here is code built with the fuzzer's instrumentation, which needs unsafe flags. Scripts/fuzz
// builds it, the library's modules instrumented too, and runs it.
let package = Package(
  name: "Fuzzing",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "FeedStream", path: "..")],
  targets: [
    .target(name: "CFuzzer"),
    // Needs neither the fuzzer nor its instrumentation: Scripts/models builds and runs it.
    .executableTarget(
      name: "models",
      dependencies: [
        .product(name: "FeedStream", package: "FeedStream"),
        .product(name: "FeedStreamTesting", package: "FeedStream"),
      ]),
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "CFuzzer",
        .product(name: "FeedFormats", package: "FeedStream"),
        .product(name: "FeedRedis", package: "FeedStream"),
        .product(name: "FeedStream", package: "FeedStream"),
        .product(name: "FeedStreamTesting", package: "FeedStream"),
        .product(name: "FeedHTTPServer", package: "FeedStream"),
        .product(name: "ImageFeed", package: "FeedStream"),
        .product(name: "PlainText", package: "FeedStream"),
      ],
      // The default linker fails on the debugging information of instrumented code.
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]),
  ])
