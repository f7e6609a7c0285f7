import ArgumentParser
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed cache images`: shows or deletes the images that are kept next to the feeds.
struct CacheImages: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "images", abstract: "Show or clear saved images.",
    subcommands: [CacheImagesShow.self, CacheImagesClear.self], defaultSubcommand: CacheImagesShow.self)
}

/// `feed cache images show`: shows the number and size of saved images, or the details of one.
struct CacheImagesShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the number and total size of saved images, or the details of one image.")

  @OptionGroup var options: CacheImagesOptions

  func run() throws {
    try options.run { store, address, place throws(FeedStoreError) in
      let now = Date()
      guard let address else {
        let usage = try store.usage()
        guard usage.count > 0 else { return "No images are saved in \(place)\n" }
        let kept = try store.keptUsage()
        let starred = kept.count > 0 ? ", and \(ByteCount(kept.bytes).text) for starred items" : ""
        let limit = usage.limit.map { " of at most \(ByteCount($0).text)" } ?? ""
        return
          "\(counted(usage.count, "image")), \(ByteCount(max(0, usage.bytes - kept.bytes)).text)\(limit)\(starred), in \(place)\n"
      }
      guard let saved = try store.retrieve(for: address, now: now) else { return nil }
      let age = FeedCachePolicy.age(of: saved.timestamp, now: now)
      let rest = age < saved.value.lifetime ? "" : ", expired"
      let data = saved.value.data
      return "\(address.shown): \(data.kind.rawValue), \(ByteCount(data.bytes.count).text), saved \(age.ago)\(rest)\n"
    }
  }
}

/// `feed cache images clear`: deletes every image, or one with its smaller versions, but not those of starred items.
struct CacheImagesClear: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Delete one image, or all images, but not those of starred items.")

  @Flag(help: "Also delete the images of starred items.")
  var all = false

  @OptionGroup var options: CacheImagesOptions

  func run() throws {
    try options.run { [all] store, address, place throws(FeedStoreError) in
      guard let address else {
        // On a full disk, the index can't be read before images are deleted.
        let before = try? store.usage()
        if all { try store.deleteAll() } else { try store.deleteUnkept() }
        // With --all, an image that is saved by now was saved by another process.
        return Self.text(before, left: try all ? ImageStoreUsage(count: 0, bytes: 0) : store.usage(), place)
      }
      if !all, try store.isKept(address), try store.retrieve(for: address, now: Date()) != nil {
        return "Kept \(address.shown), the image of a starred item; to delete it, use --all\n"
      }
      let before = try store.usage().count
      try store.delete(for: address)
      for smaller in SizedImageLoader.addresses(of: address) { try store.delete(for: smaller) }
      let isGone = try store.usage().count < before
      return isGone ? "Cleared \(address.shown)\n" : "No image is saved for \(address.shown) in \(place)\n"
    }
  }

  /// The number of deleted images and their size, and the number of those that stay.
  private static func text(_ before: ImageStoreUsage?, left: ImageStoreUsage, _ place: String) -> String {
    let kept = "Kept in \(place): \(counted(left.count, "image")) of starred items; to delete them too, use --all\n"
    let rest = left.count > 0 ? kept : ""
    guard let before else { return "Cleared the images in \(place)\n\(rest)" }
    // Another process may save images in the meantime.
    let count = max(0, before.count - left.count)
    guard count > 0 else { return rest.isEmpty ? "No images are saved in \(place)\n" : rest }
    let size = ByteCount(max(0, before.bytes - left.bytes)).text
    return "Cleared \(counted(count, "image")), \(size), in \(place)\n\(rest)"
  }
}

/// The options of both commands.
struct CacheImagesOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The URL of one image. (default: all images)", valueName: "url"),
    transform: FeedAddress.parse)
  var address: URL?

  @OptionGroup var common: CommonOptions
}

extension CacheImagesOptions {
  /// Queries the store, off the loop, and writes the result.
  ///
  /// - Parameter question: returns the text; `nil` if no image is saved for the URL.
  func run(
    _ question: @escaping @Sendable (DiskImageStore, URL?, _ place: String) throws(FeedStoreError) -> String?
  ) throws {
    try common.checkImages()
    let session = Session(common)
    let store = common.imageStore(in: session)
    let answer = SerialWorker(on: session.loop).publisher { [address] () throws(FeedStoreError) in
      try question(store, address, store.folder.printable)
    }
    session.run(answer) {
      $0 ?? ""
    } written: { [address] text, done in
      if text == nil, let address {
        session.fail("no image is saved for \(address.shown) in \(store.folder.printable)")
      }
      done()
    } ended: { [address] completion in
      guard case .failure(let error) = completion else { return }
      session.fail("\(error)".printable)
      // If all images are deleted, the files are deleted first on a full disk. Some may stay if the disk has failed.
      if address == nil, case .deletion(let cause, _) = error, cause.mayBeFullDisk {
        session.console.hint(
          "the image files are deleted as far as possible; when the disk has room, run the command again to update the "
            + "index")
      }
    }
    try session.finish {}
  }
}
