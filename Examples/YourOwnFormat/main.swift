// A feed in your own JSON: add one format to the list; the rest of the pipeline stays the same.
//
//     swift run YourOwnFormat http://127.0.0.1:8765/photos.json feeds.db

import FeedFormats
import FeedStream
import Foundation
import ImageFeed

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

  func recognizes(_ document: WebDocument) -> Bool { document.body.prefix(100).contains(Data("{\"photos\"".utf8)) }

  func images(of document: WebDocument, within limits: FeedLimits) throws(InvalidData) -> FeedImages {
    guard let album = try? JSONDecoder().decode(Album.self, from: document.body) else { throw .notJSON("no album") }
    guard album.photos.count <= limits.items else { throw .tooMuch(of: "photos", limit: limits.items) }
    return FeedImages(
      album.photos.map { photo in
        FeedImage(id: .init(name: photo.key, in: document.url), description: photo.caption, url: photo.src)
      })
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

let subscription = loader.load().sink { completion in
  if case .failure(let error) = completion { print("no feed: \(error)") }
} receiveValue: { feed in
  for image in feed.images { print("-", image.description ?? "(no description)", image.url) }
}

loop.run()
withExtendedLifetime(subscription) {}
