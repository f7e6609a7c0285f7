// A feed in your own JSON: add one format to the list; the rest of the pipeline stays the same.
//
//     swift run YourOwnFormat http://127.0.0.1:8765/photos.json feeds.db

import FeedFormats
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// Reads `{"photos": [{"key": "…", "caption": "…", "src": "https://…"}]}`.
struct CompanyFormat: FeedFormat {
  private struct Album: Decodable {
    struct Photo: Decodable {
      let key: String
      let caption: String?
      let src: URL
    }
    let photos: [Photo]
  }

  func recognizes(_ document: WebDocument) -> Bool {
    String(decoding: document.body.prefix(200), as: UTF8.self).filter { !$0.isWhitespace }.hasPrefix("{\"photos\"")
  }

  func images(of document: WebDocument, within limits: FeedLimits) throws(InvalidData) -> FeedImages {
    guard let album = try? JSONDecoder().decode(Album.self, from: document.body) else { throw .notJSON("no album") }
    guard album.photos.count <= limits.items else { throw .tooMuch(of: "photos", limit: limits.items) }
    var images: [FeedImage] = []
    for (index, photo) in album.photos.enumerated() {
      // Refuse other URLs, such as file: or a relative one: the program that gets the image may open it.
      guard ["http", "https"].contains(photo.src.scheme?.lowercased() ?? ""), photo.src.host() != nil else {
        throw .imageAddress(item: index, photo.src.absoluteString)
      }
      images.append(FeedImage(id: .init(name: photo.key, in: document.url), description: photo.caption, url: photo.src))
    }
    return FeedImages(images)
  }
}

guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[1]) else {
  print("Usage: YourOwnFormat <url> <cache file>")
  exit(64)
}

let loop = EventLoop()
let cache = FeedCache(store: SQLiteFeedStore(path: CommandLine.arguments[2]), on: loop)
var options = FeedLoader.Options()
options.formats = [CompanyFormat()] + .web
let loader = FeedLoader(url, client: CurlHTTPClient(on: loop), cache: cache, on: loop, options: options)

var status: Int32 = 0
let subscription = loader.load().sink { completion in
  guard case .failure(let error) = completion else { return }
  FileHandle.standardError.write(Data("no feed: \(error)\n".utf8))
  status = 1
} receiveValue: { feed in
  // A caption is untrusted: it may contain control characters for the terminal.
  for image in feed.images { print("-", image.description?.printable ?? "(no description)", image.url) }
}

loop.run()
withExtendedLifetime(subscription) {}
exit(status)
