import Foundation
import ImageFeed

/// Reads the most frequent command lines without the parser: `feed load` with URLs, `--cache`, `--format` and the
/// source of the feeds.
///
/// The parser describes every option before it reads one, which takes a third of the instructions needed to load ten
/// images. All other command lines, including invalid ones, are left to the parser, so that every message is the
/// parser's own. Both must read a command line in the same way; `QuickArgumentsTests` compares them.
enum QuickArguments {
  /// - Returns: `nil` for arguments that the parser must read.
  static func command(_ arguments: [String]) -> LoadCommand? {
    // The parser validates the variables of the environment.
    let variables = ["FEED_CONTACT", "FEED_SIGNING_KEY", "FEED_SIGNATURE_AGENT"]
    guard arguments.first == "load", variables.allSatisfy({ ProcessInfo.processInfo.environment[$0] == nil }) else {
      return nil
    }
    var addresses: [URL] = []
    var (cache, format, choice): (String?, OutputFormat?, ReadChoice?)
    var rest = arguments.dropFirst()
    while let argument = rest.popFirst() {
      switch argument {
      case "--cache":
        guard cache == nil, let path = rest.popFirst(), !path.isEmpty, !path.hasPrefix("-") else { return nil }
        cache = path
      case "--format":
        guard format == nil, let name = rest.popFirst(), let named = OutputFormat(rawValue: name) else { return nil }
        format = named
      case "--offline", "--refresh", "--prefer-cache":
        guard choice == nil else { return nil }
        choice = argument == "--offline" ? .offline : argument == "--refresh" ? .refresh : .preferCache
      default:
        guard !argument.hasPrefix("-"), let address = try? FeedAddress.parse(argument) else { return nil }
        addresses.append(address)
      }
    }
    let path = cache ?? CommonOptions.defaultCachePath()
    guard !CommonOptions.isFolder(path), !ForeignFiles.isForeign(path, to: .feeds) else { return nil }
    return LoadCommand(LoadOptions(addresses: addresses, cache: cache, format: format ?? .text), choice: choice)
  }
}

// The defaults of the declarations. A property that is missing here would trap when it is read.

extension LoadCommand {
  fileprivate init(_ load: LoadOptions, choice: ReadChoice?) {
    self.init()
    (self.load, self.choice, pages, saveImages) = (load, choice, nil, false)
    imageOptions = ImageOptions()
    (imageOptions.images, imageOptions.grid) = (nil, false)
    budget = ImageBudgetOption()
    budget.imagesPerFeed = ByteCount(30_000_000)
  }
}

extension LoadOptions {
  fileprivate init(addresses: [URL], cache: String?, format: OutputFormat) {
    self.init()
    list = FeedListOptions()
    (list.addresses, list.opml, list.folder) = (addresses, nil, [])
    (self.format, width, fallback, timeout) = (format, nil, .any, DurationArgument(.seconds(30)))
    common = CommonOptions()
    (common.cache, common.maxAge) = (cache, MaxAge(FeedCachePolicy.defaultMaxAge))
    (common.imageCacheSize, common.quiet) = (ByteCount(150_000_000), false)
    common.keep = HistoryPolicy()
    common.log = LogOptions()
    (common.log.verbose, common.log.logFormat) = (false, .text)
    trust = TrustOptions()
    (trust.cacert, trust.contact, trust.signingKey, trust.signatureAgent) = (nil, nil, nil, nil)
    request = RequestOptions()
    (request.header, request.user, request.netrc, request.netrcFile) = ([], nil, false, nil)
  }
}
