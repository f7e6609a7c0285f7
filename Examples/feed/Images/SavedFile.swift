import Foundation
import ImageFeed
import PlainText

/// A file in which the user saves an image.
enum SavedFile {
  private static let longestName = 80

  /// Writes an image under a name from its URL, with a number appended if that file exists. Blocks.
  ///
  /// - Returns: the name.
  static func write(_ image: ImageData, named url: URL, in folder: String) throws(NoImage) -> String {
    let (name, ending) = (base(of: url), ending(of: image.kind))
    for number in 1...999 {
      let file = number == 1 ? "\(name).\(ending)" : "\(name)-\(number).\(ending)"
      let descriptor = open("\(folder)/\(file)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
      if descriptor < 0, errno == EEXIST { continue }
      guard descriptor >= 0 else { throw failure(String(cString: strerror(errno)), in: folder) }
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      do {
        try handle.write(contentsOf: image.bytes)
        try handle.close()
        return file
      } catch {
        unlink("\(folder)/\(file)")
        throw failure("\(error.localizedDescription)".printable(limit: 100), in: folder)
      }
    }
    throw NoImage(reason: "999 files with that name already exist")
  }

  private static func failure(_ cause: String, in folder: String) -> NoImage {
    NoImage(reason: "cannot write to \(folder.printable(limit: 100)): \(cause)")
  }

  /// The first part of the name: only letters and digits, because the URL is untrusted.
  private static func base(of url: URL) -> String {
    let name = url.deletingPathExtension().lastPathComponent
    let safe = name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
    let parts = String(safe).split(separator: "-").joined(separator: "-").prefix(longestName)
    return parts.isEmpty ? "image" : String(parts)
  }

  private static func ending(of kind: ImageData.Kind) -> String {
    switch kind {
    case .jpeg: "jpg"
    case .jpegXL: "jxl"
    case .heif: "heic"
    case .icon: "ico"
    default: kind.rawValue
    }
  }
}
