// Loads two feeds concurrently and shows them together when both have arrived, or reports which one failed.
//
//     swift run ZipTwoLoads http://127.0.0.1:8765/case-study.json http://127.0.0.1:8765/case-study.json

import FeedStream
import Foundation
import ImageFeed

let addresses = CommandLine.arguments.dropFirst().compactMap { URL(string: $0) }
guard addresses.count == 2 else {
  print("Usage: ZipTwoLoads <url> <url>")
  exit(64)
}

let loop = EventLoop()
let http = CurlHTTPClient(on: loop)

let loads = addresses.map { http.get($0).asDocument().mapFeed(on: loop).map(\.value) }

var status: Int32 = 0
let subscription = loads[0]
  .zip(loads[1]) { first, second in Array(first) + second }
  .sink { completion in
    // If one load fails, the other's request is closed immediately.
    guard case .failure(let error) = completion else { return }
    FileHandle.standardError.write(Data("could not load both: \(error)\n".utf8))
    status = 1
  } receiveValue: { images in
    print("\(images.count) images, \(Set(images.map(\.id)).count) of them distinct")
  }

loop.run()
withExtendedLifetime(subscription) {}
exit(status)
