import FeedHTTP
import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

@testable import feed

/// Images that are loaded before the page is opened, and images for e-paper frames.
@Suite(.settled, .timeLimit(.minutes(5))) struct ServeImagesTests {
  /// Calls `body` with a gallery of one image of 600 by 450 pixels.
  private func withGallery(
    _ arguments: String..., body: (_ port: Int, _ origin: ImageOrigin) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start(["a"])
      await origin.serve(Chunk(MadeImage.png(width: 600, height: 450)), at: "/0")
      let cache = folder.appendingPathComponent("feeds.db").path
      let run = try RunningFeed(["serve", "--port", "0", "--every", "1h", "--cache", cache, url] + arguments)
      let number = try port(of: try #require(await run.output.line()))
      try await wait(while: try await imagePaths(number).isEmpty)
      do { try await body(number, origin) } catch { Issue.record(error) }
      run.send(SIGTERM)
      #expect(await run.status() == 143)
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  @Test func `the latest images are loaded in advance, and shown when their server is unreachable`() async throws {
    try await withGallery { port, origin in
      try await wait(while: try await !get(port, "/").contains("width=\"600\" height=\"450\""))
      #expect(await origin.asked.count { $0 == "/0" } == 1)
      await origin.stop()
      let path = try #require(try await imagePaths(port).first)
      #expect(try await get(port, "\(path)?w=400").hasPrefix("HTTP/1.1 200"))
      #expect(try await get(port, "/").contains("class=\"shade\" color=\"#"))
      #expect(try await get(port, "/metrics").contains("feed_serve_images_total{from=\"server\"} 0\n"))
    }
  }

  @Test func `browsers cache an image that is cut off for only a minute`() async throws {
    try await withGallery("--images-ahead", "0") { port, origin in
      await origin.serve(Chunk(MadeImage.gif(frames: 9).dropLast()), at: "/0")
      let path = try #require(try await imagePaths(port).first)
      #expect(try await answer(port, path).head.contains("Cache-Control: private, max-age=60\r\n"))
      await origin.serve(Chunk(MadeImage.gif(frames: 9)), at: "/0")
      #expect(try await answer(port, path).head.contains("Cache-Control: private, max-age=3600\r\n"))
    }
  }

  @Test func `an image that is cut off is requested only once in advance, and isn't counted as loaded`() throws {
    let time = VirtualTimeScheduler()
    let network = VirtualNetwork(on: time)
    network.serve("a.example") { _, _ in .answer(Data(MadeImage.gif(frames: 9).dropLast())) }
    let cache = ImageCache(store: InMemoryImageStore(), on: time)
    let sized = SizedImageLoader(
      ImageLoader(client: network, cache: cache), cache: cache,
      decoder: ImageDecoder(program: "image-decoder", on: time))
    let images = ServedImages(sized, ImageFiles(DiskImageStore(folder: "/nonexistent"), on: time))
    let feed = Gallery.Named.Lister(address: URL(string: "http://a.example/feed")!, isPrivate: nil)
    var image = Gallery.Named(url: URL(string: "http://a.example/1.gif")!)
    image.add(feed)
    var result: Result<Int, SizedImageError>?
    let loading = images.ahead(image, within: 1_000_000).asResult().sink { result = $0 }
    time.run()
    #expect(throws: SizedImageError.self) { try result?.get() }
    #expect(network.requests == 1)
    withExtendedLifetime(loading) {}
  }

  @Test func `an image of an unreachable host says so, without advice for the host's operator`() {
    func reason(_ kind: HTTPError.Kind) -> String {
      let error = HTTPError(kind, host: "a.example", cause: "connection refused")
      return ServedImages.Problem(.image(ImageError(remote: .connectivity(error)))).reason
    }
    for kind in [HTTPError.Kind.connect, .nameResolution] {
      #expect(reason(kind) == "a.example is unreachable, and this image isn't saved.")
    }
    #expect(reason(.truncated).contains("was cut short"))
  }

  @Test func `all images of a post are loaded in advance, after the first images of all posts, and each once`() throws {
    let time = VirtualTimeScheduler()
    let network = VirtualNetwork(on: time)
    var asked: [String] = []
    network.serve("a.example") { request, _ in
      asked.append(request.request.url.lastPathComponent)
      return .answer(headers: ["Cache-Control": "max-age=1000"], Data(MadeImage.gif()))
    }
    time.programs.decodeImages(on: time) { _ in .end(.exited(71)) }
    let cache = ImageCache(store: InMemoryImageStore(), on: time)
    let sized = SizedImageLoader(
      ImageLoader(client: network, cache: cache), cache: cache,
      decoder: ImageDecoder(program: "image-decoder", on: time))
    let images = ServedImages(sized, ImageFiles(DiskImageStore(folder: "/nonexistent"), on: time))
    let feed = try #require(URL(string: "http://a.example/feed"))
    let gallery = Gallery([Gallery.Name(address: feed, title: nil)], every: nil, on: time)
    let ahead = GalleryAhead(gallery, images, count: 2, within: ImageBudget(of: 1_000_000), on: time)
    let posts = try [[1, 2, 3], [4, 2], [5, 6]].enumerated().map { number, files in
      let listed = files.map { FeedImage.Post.Image(url: "http://a.example/\($0)") }
      return FeedImage(
        id: FeedImage.ID(UUID()), description: "Post \(number)",
        url: try #require(URL(string: listed[0].url)), post: FeedImage.Post(images: listed))
    }
    gallery.put(FeedImages(posts), of: 0, at: Date(), .server)
    time.run()
    #expect(asked == ["1", "4", "2", "3"])
    withExtendedLifetime(ahead) {}
  }

  @Test func `a frame is a PNG with its size and colors, and isn't sent again while unchanged`() async throws {
    try await withGallery("--images-ahead", "0") { port, _ in
      let frame = try await answer(port, "/frame.png?w=64&h=40&palette=bwr")
      #expect(frame.head.contains("Content-Type: image/png\r\n"))
      let bytes = [UInt8](frame.body)
      // The width, height, depth and color type in the header.
      #expect(Array(bytes[16..<26]) == [0, 0, 0, 64, 0, 0, 0, 40, 2, 3])
      #expect(Array(bytes[41..<50]) == [0, 0, 0, 255, 255, 255, 255, 0, 0])
      #expect(decoded(frame.body) == DecodedImage.Size(width: 64, height: 40))
      let tag = try #require(frame.head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") })
      let again = try await answer(port, "/frame.png?w=64&h=40&palette=bwr", "If-None-Match: \(tag.dropFirst(6))\r\n")
      #expect(again.head.hasPrefix("HTTP/1.1 304") && again.body.isEmpty)
      for wrong in ["w=0", "w=64&h=9999999999999", "palette=purple", "every=never", "every=1ms"] {
        #expect(try await get(port, "/frame.png?\(wrong)").hasPrefix("HTTP/1.1 400"), "\(wrong)")
      }
      #expect(try await get(port, "/frame.png?feed=unheard-of").hasPrefix("HTTP/1.1 404"))
      #expect(try await get(port, "/slideshow?every=0s").hasPrefix("HTTP/1.1 400"))
    }
  }

  @Test func `the frame of an image doesn't depend on whether its size is known`() throws {
    let time = VirtualTimeScheduler()
    let network = VirtualNetwork(on: time)
    network.serve("a.example") { _, _ in
      .answer(headers: ["Cache-Control": "max-age=1000"], Data(MadeImage.png(width: 160, height: 90)))
    }
    let original = DecodedImage.Size(width: 160, height: 90)
    time.programs.decodeImages(on: time) { request in
      let scale = min(Double(request.width) / 160, Double(request.height) / 90, 1)
      let size = DecodedImage.Size(width: Int((160 * scale).rounded()), height: Int((90 * scale).rounded()))
      let black = Chunk((0..<size.width * size.height).flatMap { _ in [0, 0, 0, 255] as [UInt8] })
      return .answer(ImageDecodingResponse(.decoded, size: size, originalSize: original, form: .pixels, body: black))
    }
    let cache = ImageCache(store: InMemoryImageStore(), on: time)
    let sized = SizedImageLoader(
      ImageLoader(client: network, cache: cache), cache: cache,
      decoder: ImageDecoder(program: "image-decoder", on: time))
    let images = ServedImages(sized, ImageFiles(DiskImageStore(folder: "/nonexistent"), on: time))
    var image = Gallery.Named(url: try #require(URL(string: "http://a.example/1.png")))
    image.add(Gallery.Named.Lister(address: try #require(URL(string: "http://a.example/feed")), isPrivate: nil))
    let frame = try FrameImage(width: "80", height: "48", palette: "bw")
    func tag(_ size: DecodedImage.Size?) throws -> String {
      var response: ServerResponse?
      let loading = Frames(images, on: time).png(frame, of: image, as: "frame", size: size).sink { response = $0 }
      time.run()
      loading.cancel()
      let received = try #require(response)
      return try #require(received.headers["ETag"])
    }
    let known = try tag(original)
    #expect(try tag(nil) == known)
    #expect(try tag(DecodedImage.Size(width: 90, height: 160)) == known, "the image at the URL has changed")
  }

  /// The size according to our own decoder.
  private func decoded(_ bytes: Chunk) -> DecodedImage.Size? {
    let loop = EventLoop()
    let decoder = ImageDecoder(program: FeedBinary.path(of: "image-decoder"), on: loop)
    var size: DecodedImage.Size?
    let decoding = decoder.decode(bytes).sink { _ in
      decoder.close()
    } receiveValue: {
      size = $0.size
    }
    loop.run()
    withExtendedLifetime(decoding) {}
    loop.close()
    return size
  }

  @Test func `page, stylesheet and script take at most 25 kB together, compressed`() async throws {
    try await withGallery { port, _ in
      var count = 0
      for path in ["/", "/style.css", "/script.js"] {
        let answer = try await answer(port, path, "Accept-Encoding: gzip\r\n")
        #expect(answer.head.contains("Content-Encoding: gzip\r\n"))
        count += answer.body.count
      }
      #expect(count < 20_000, "which leaves room for sixty cards")
    }
  }
}
