// Microsoft's Channel Definition Format (<https://www.w3.org/TR/NOTE-CDFsubmit.html>), which looks like RSS without its
// root, and uses attributes where RSS uses elements.
extension SyndicationBuilder {
  mutating func becomeCDF() {
    guard document.format == .rss else { return }
    document.format = .cdf
    repairs.remove(.noRoot)
  }

  mutating func noteChannel(_ tag: borrowing XMLTag) {
    guard tag.attributes.contains(where: { !tag.name(of: $0).starts(with: "xml") }) else { return }
    becomeCDF()
    noteSite(resolved(tag), isBest: true)
  }

  mutating func noteItem(_ tag: borrowing XMLTag) {
    if let address = resolved(tag) {
      becomeCDF()
      (item.link, item.linkIsAlternate) = (address, true)
    }
    if let date = tag.rawValue("lastmod") {
      becomeCDF()
      item.item.updated = FeedDate(parsing: date)
    }
  }

  mutating func beginOfCDF(
    _ name: ElementName, _ element: Element, _ tag: borrowing XMLTag, _ hash: UInt64
  ) -> Frame {
    becomeCDF()
    switch name {
    case .abstract: return text(.summary, tag, element, hash)
    case .logo:
      // A logo is an icon, unless its style says that it is an image.
      if tag.rawValue("style")?.trimmed.startsIgnoringCase(with: "image") == true {
        noteImage(tag.rawValue("href"), from: .image, tag)
      }
      return Frame(name: hash, context: .void)
    default:
      if item.link == nil, let address = resolved(tag) { (item.link, item.linkIsAlternate) = (address, true) }
      return Frame(name: hash, context: .ignored)
    }
  }
}
