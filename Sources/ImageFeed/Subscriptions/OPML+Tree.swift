import FeedFormats
import Foundation

/// The tree of a list's outlines: its feeds are found by their URLs, and its folders by their names.
extension OPML {
  /// A feed's URL as ``subscriptions`` has it, whatever its spelling in the list.
  static func spelled(_ address: String) -> String {
    // Parsing the URL of each feed of a long list would take minutes.
    let mayDiffer = address.utf8.contains { $0 <= 0x20 || $0 >= 0x7F || "\"#%<>@[\\]^`{|}".utf8.contains($0) }
    return mayDiffer ? URL(string: address)?.absoluteString ?? address : address
  }

  /// - Returns: true if there was such a feed.
  static func change(_ outlines: inout [Outline], _ address: String, _ body: (inout Outline) -> Void) -> Bool {
    for index in outlines.indices {
      if outlines[index].isFeed(at: address) {
        body(&outlines[index])
        return true
      }
      if change(&outlines[index].outlines, address, body) { return true }
    }
    return false
  }

  /// - Parameter places: the places of the folders in `outlines`; updated for folders that are added.
  static func insert(
    _ outline: Outline, in folders: ArraySlice<String>, of outlines: inout [Outline], _ places: FolderPlaces
  ) {
    guard let folder = folders.first else { return outlines.append(outline) }
    let index = places[folder] ?? outlines.count
    if index == outlines.count {
      outlines.append(Outline(text: folder))
      places[folder] = index
    }
    let inner = places.inside(index, outlines[index].outlines)
    insert(outline, in: folders.dropFirst(), of: &outlines[index].outlines, inner)
  }

  /// Removes the outlines of a feed. Outlines inside them take their place.
  static func remove(_ address: String, from outlines: inout [Outline]) -> Bool {
    var isRemoved = false
    for index in outlines.indices.reversed() {
      let isRemovedInside = remove(address, from: &outlines[index].outlines)
      isRemoved = isRemoved || isRemovedInside
      if outlines[index].isFeed(at: address) {
        outlines.replaceSubrange(index...index, with: outlines[index].innerOutlines)
        isRemoved = true
      } else if isRemovedInside, outlines[index].outlines.isEmpty, outlines[index].address == nil {
        outlines.remove(at: index)
      }
    }
    return isRemoved
  }
}

extension OPML.Outline {
  /// - Parameter address: the URL as ``OPML/subscriptions`` has it.
  fileprivate func isFeed(at address: String) -> Bool {
    webAddress.map { $0 == address || OPML.spelled($0) == address } ?? false
  }

  /// The outlines inside this one, with the prefixes that only this one declares for them.
  fileprivate var innerOutlines: [OPML.Outline] {
    let declared = attributes.filter { $0.declaredPrefix != nil }
    return outlines.map { inner in
      var inner = inner
      inner.attributes += declared.filter { inner[attribute: $0.name] == nil }
      return inner
    }
  }
}

/// The places of folders among their outlines, by name, while outlines are only appended. Without it, adding a list
/// with many folders would take quadratic time.
final class FolderPlaces {
  private var indices: [String: Int] = [:]
  private var inner: [Int: FolderPlaces] = [:]

  init(_ outlines: [OPML.Outline]) {
    for (index, outline) in outlines.enumerated() where outline.address == nil {
      if let name = outline.name, indices[name] == nil { indices[name] = index }
    }
  }

  subscript(name: String) -> Int? {
    get { indices[name] }
    set { indices[name] = newValue }
  }

  /// The places inside the folder at an index, which has these outlines.
  func inside(_ index: Int, _ outlines: @autoclosure () -> [OPML.Outline]) -> FolderPlaces {
    if let known = inner[index] { return known }
    let places = FolderPlaces(outlines())
    inner[index] = places
    return places
  }
}
