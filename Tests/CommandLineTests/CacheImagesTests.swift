import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

@testable import feed

/// `feed cache images`, and the images that remain after a process is killed.
@Suite(.settled, .timeLimit(.minutes(5))) struct CacheImagesTests {
  private func url(_ number: Int) -> URL { URL(string: "https://images.example/\(number).png")! }

  private func save(_ count: Int, in folder: URL) throws {
    let store = DiskImageStore(folder: folder.appendingPathComponent("images").path)
    for number in 0..<count {
      let data = try ImageData(Data(MadeImage.png(width: 20, height: 20)))
      let image = Saved(FetchedImage(data, lifetime: .seconds(3_600)), timestamp: Date())
      for address in [url(number)] + SizedImageLoader.addresses(of: url(number)).prefix(1) {
        try store.save(image, for: address, now: Date())
      }
    }
  }

  @Test func `saved images are listed, and cleared together or one with all its sizes`() async throws {
    try await withFolder { folder in
      let cache = folder.appendingPathComponent("feeds.db").path
      func run(_ arguments: String...) async throws -> String {
        let ending = try await FeedBinary.run(["cache", "images"] + arguments + ["--cache", cache])
        #expect(ending.status == 0 && ending.errors == "")
        return ending.output
      }
      let place = folder.appendingPathComponent("images").path
      #expect(try await run("show") == "No images are saved in \(place)\n")
      #expect(try await run("clear") == "No images are saved in \(place)\n")
      #expect(!FileManager.default.fileExists(atPath: place), "nothing is made")
      try save(3, in: folder)
      let all = try await run("show")
      #expect(all.hasPrefix("6 images, ") && all.hasSuffix(" of at most 150 MB, in \(place)\n"), "\(all)")
      #expect(try await run("show", "--image-cache-size", "2GB").contains("of at most 2.0 GB"))
      let one = url(1).absoluteString
      let shown = try await run("show", one)
      #expect(shown.contains("/1.png: png, ") && shown.contains(" kB, saved "))
      #expect(try await run("clear", one).hasPrefix("Cleared "))
      #expect(try await run("clear", one).hasPrefix("No image is saved for "))
      #expect(try await run("show").hasPrefix("4 images"))
      let cleared = try await run("clear")
      #expect(cleared.hasPrefix("Cleared 4 images, ") && cleared.hasSuffix("B, in \(place)\n"), "\(cleared)")
      #expect(try await run().hasPrefix("No images are saved"))
      let missing = try await FeedBinary.run(["cache", "images", "show", one, "--cache", cache])
      #expect(missing.status == 1 && missing.output == "")
      #expect(missing.errors == "feed: no image is saved for \(one) in \(place)\n")
    }
  }

  @Test(arguments: [
    ("150MB", 150_000_000), ("1GB", 1_000_000_000), ("64MiB", 64 << 20), ("1.5g", 1_500_000_000),
    ("2000000", 2_000_000),
    ("1000kB", 1_000_000), ("1mb", 1_000_000),
  ]) func `sizes are parsed in the forms that people write`(text: String, bytes: Int) throws {
    #expect(try ByteCount(parsing: text).bytes == bytes)
  }

  @Test(arguments: ["", "MB", "-5MB", "1e9", "nan", "infMB", "10", "999kB", "2000GB", "5 MB", "5XB", "١MB"])
  func `an invalid or unusable size is rejected`(text: String) {
    #expect(throws: (any Error).self) { try ByteCount(parsing: text) }
  }

  /// An image whose bytes show whether all of them are of one version.
  private func image(_ version: UInt8, count: Int) -> [UInt8] {
    Array(MadeImage.png(width: 9, height: 9).prefix(8)) + [UInt8](repeating: version, count: count)
  }

  @Test func `two processes killed at random while writing leave only whole images, and count every byte`() async throws
  {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start((0..<10).map { "\($0)" })
      let cache = folder.appendingPathComponent("feeds.db").path
      let images = folder.appendingPathComponent("images").path
      var found = 0
      for round in 0..<UInt8(6) {
        // Each image has its own length, and another one in each round, so that saved images are replaced.
        for number in 0..<10 {
          await origin.serve(Chunk(image(round, count: 30_000 + number * 7_000)), at: "/\(number)", lifetime: 0)
        }
        let size = ["--image-cache-size", "1MB"]
        let runs = try (0..<2).map { _ in
          try RunningFeed(["serve", "--port", "0", "--every", "1h", "--cache", cache, url] + size)
        }
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        for run in runs {
          guard let line = await run.output.line() else {
            let status = await run.status()
            Issue.record("round \(round): status \(status), \(await run.errors.line() ?? "nothing said")")
            return
          }
          let number = try port(of: line)
          var paths: [String] = []
          while paths.isEmpty { paths = try await imagePaths(number) }
          // Don't wait for the responses: the process is killed while it loads and saves.
          for path in paths.shuffled() {
            sockets.append(try send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", to: number))
          }
        }
        // Wait until something is saved before the first kill.
        for _ in 0..<2_000 where round == 0 && (FileManager.default.subpaths(atPath: "\(images)/data") ?? []).isEmpty {
          try await Task.sleep(for: .milliseconds(10))
        }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...60)))
        for run in runs { run.send(SIGKILL) }
        for run in runs { #expect(await run.status() == 128 + SIGKILL) }
        found += try examine(images, origin.port, round: round)
      }
      #expect(found >= 6, "otherwise nothing was saved before the kills")
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  /// Connects to a server on this machine and sends `text`; returns the socket.
  private func send(_ text: String, to port: Int) throws -> Int32 {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let code = withLoopbackAddress(port: port) { connect(socket, $0, $1) }
    #expect(code == 0 && text.withCString { write(socket, $0, strlen($0)) } == text.utf8.count)
    return socket
  }

  /// Examines the saved images as the next process would.
  private func examine(_ folder: String, _ port: Int, round: UInt8) throws -> Int {
    let store = DiskImageStore(folder: folder, limit: 1_000_000)
    let usage = try store.usage()
    let data = "\(folder)/data"
    var onDisk = 0
    for name in FileManager.default.subpaths(atPath: data) ?? [] {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(data)/\(name)")
      guard attributes[.type] as? FileAttributeType == .typeRegular, !name.hasSuffix(".new") else { continue }
      onDisk += (attributes[.size] as? Int) ?? 0
    }
    #expect(onDisk <= usage.bytes && usage.bytes <= 1_000_000)
    var found = 0
    for number in 0..<10 {
      let address = try #require(URL(string: "http://127.0.0.1:\(port)/\(number)"))
      guard let bytes = try store.retrieve(for: address, now: Date())?.value.data.bytes else { continue }
      found += 1
      let marks = Set(bytes.dropFirst(8))
      #expect(marks.count == 1 && marks.first ?? 255 <= round && bytes.count == 30_008 + number * 7_000)
    }
    #expect(usage.count >= found)
    return found
  }
}
