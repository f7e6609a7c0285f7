import ArgumentParser
import FeedPolling
import Foundation
import ImageFeed
import PlainText

/// A host as a fleet identifies it: in lower case, with its port if the URLs of its feeds have one.
struct HostArgument {
  let name: String

  /// - Parameter text: a host, or any URL on that host.
  init(parsing text: String) throws {
    let address = text.contains("://") ? text : "http://\(text)/"
    guard let url = try? FeedAddress.parse(address), !url.pollingHost.isEmpty, !text.contains(where: \.isWhitespace)
    else {
      throw ValidationError(
        "A host must be a name such as example.com, with a port if its URLs have one: example.com:8080.")
    }
    name = url.pollingHost
  }
}
