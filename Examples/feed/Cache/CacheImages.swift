import ArgumentParser
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed cache images`: shows or deletes the pictures that are kept next to the feeds.
struct CacheImages: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "images", abstract: "Show or clear the pictures that are saved.",
    subcommands: [CacheImagesShow.self, CacheImagesClear.self], defaultSubcommand: CacheImagesShow.self)
}

/// `feed cache images show`: how many pictures there are, and how much they take; or what is known of one.
struct CacheImagesShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show how many pictures are saved and what they take, or one of them.")

  @OptionGroup var options: CacheImagesOptions

  func run() throws {
    try options.run { store, address, place throws(FeedStoreError) in
      let now = Date()
      guard let address else {
        let usage = try store.usage()
        guard usage.count > 0 else { return "No picture is saved in \(place)\n" }
        let kept = try store.keptUsage()
        let starred = kept.count > 0 ? ", \(ByteCount(kept.bytes).text) of it of starred items" : ""
        let limit = usage.limit.map { " of at most \(ByteCount($0).text)" } ?? ""
        return
          "\(usage.count) \(usage.count == 1 ? "picture" : "pictures"), \(ByteCount(usage.bytes).text)\(limit)\(starred), in \(place)\n"
      }
      guard let saved = try store.retrieve(for: address, now: now) else {
        return "No picture is saved for \(address.shown) in \(place)\n"
      }
      let age = FeedCachePolicy.age(of: saved.timestamp, now: now)
      let rest = age < saved.value.lifetime ? "" : ", to be asked for again"
      let data = saved.value.data
      return "\(address.shown): \(data.kind.rawValue), \(ByteCount(data.bytes.count).text), saved \(age.ago)\(rest)\n"
    }
  }
}

/// `feed cache images clear`: deletes every picture, or one with its smaller sizes.
struct CacheImagesClear: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Delete every picture but those of starred items, or one with its smaller sizes.")

  @Flag(help: "Delete the pictures of starred items, too.")
  var all = false

  @OptionGroup var options: CacheImagesOptions

  func run() throws {
    try options.run { [all] store, address, place throws(FeedStoreError) in
      guard let address else {
        if all { try store.deleteAll() } else { try store.deleteUnkept() }
        let left = all ? 0 : try store.usage().count
        guard left > 0 else { return "No picture is saved in \(place) any more\n" }
        let pictures = "\(left) \(left == 1 ? "picture" : "pictures")"
        return "Kept in \(place): \(pictures) of starred items; --all deletes them, too\n"
      }
      let before = try store.usage().count
      try store.delete(for: address)
      for smaller in SizedImageLoader.addresses(of: address) { try store.delete(for: smaller) }
      let isGone = try store.usage().count < before
      return isGone ? "Cleared \(address.shown)\n" : "No picture is saved for \(address.shown) in \(place)\n"
    }
  }
}

/// The options of both.
struct CacheImagesOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The address of one picture; all pictures without it.", valueName: "url"),
    transform: FeedAddress.parse)
  var address: URL?

  @OptionGroup var common: CommonOptions
}

extension CacheImagesOptions {
  /// Asks the store, off the loop, and writes the answer.
  func run(
    _ question: @escaping @Sendable (DiskImageStore, URL?, _ place: String) throws(FeedStoreError) -> String
  ) throws {
    try common.checkImages()
    let session = Session(verbose: common.verbose)
    let store = common.imageStore
    let answer = SerialWorker(on: session.loop).publisher { [address] () throws(FeedStoreError) in
      try question(store, address, store.folder.printable)
    }
    session.run(answer) {
      $0
    } ended: { completion in
      if case .failure(let error) = completion { session.fail("\(error)".printable) }
    }
    try session.finish {}
  }
}
