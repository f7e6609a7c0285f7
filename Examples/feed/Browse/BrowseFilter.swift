import FeedStream
import Foundation
import ImageFeed
import TerminalImages

/// The filter of the list, and the feeds' former items.
extension BrowseState {
  struct Filter: Equatable {
    var words = ""
    var isStarred = false
    var isNew = false
    var feed: URL?
    var folder: Folder?

    /// The feeds in a folder and its subfolders.
    struct Folder: Equatable {
      /// The folder's name, preceded by the names of the folders that contain it.
      var name: String
      var feeds: [URL]
    }

    func has(_ address: URL) -> Bool {
      (feed == nil || feed == address) && folder?.feeds.contains(address) ?? true
    }

    var isActive: Bool { self != Filter() }
    /// True if the cache file must be queried, because the results come from the history.
    var asksStore: Bool { isStarred || hasWords }
    var hasWords: Bool { words.contains { !$0.isWhitespace } }

    /// The number of pages of results to read. New items are found among the results.
    var pages: Int { isNew ? 10 : 1 }

    /// The query for the history, among `feeds` unless the filter is narrower.
    func query(in feeds: [URL]) -> SeenQuery {
      SeenQuery(
        words, isTyping: true, feeds: feed.map { [$0] } ?? folder?.feeds ?? feeds, isStarred: isStarred,
        limit: isNew ? 1_000 : 200)
    }
  }

  /// Adds a page of a feed's former items. After a refresh, they are read again, up to the first known one, and come
  /// before those that are known.
  mutating func take(_ page: SeenPage, of address: URL) {
    change(address) { source in
      // A page that was read before a refresh is outdated.
      guard !source.isRefreshing else { return }
      let known = Set(source.kept.map(\.id))
      let added = FeedImages(page.images.map(\.image).filter { !known.contains($0.id) })
      let (read, unread) = (source.kept.prefix(source.keptCount), source.kept.dropFirst(source.keptCount))
      let marks =
        (source.kept.isEmpty ? [] : [source.kept.isFromPrivateNetwork]) + page.images.map(\.isFromPrivateNetwork)
      source.kept = FeedImages(
        joining: unread.isEmpty ? [source.kept, added] : [FeedImages(read), added, FeedImages(unread)]
      ).marked(isFromPrivateNetwork: FeedImages.joined(marks))
      let isComplete = added.count < page.images.count || page.next == nil
      source.keptCount = isComplete ? source.kept.count : source.keptCount + added.count
      source.stars.formUnion(page.images.lazy.filter(\.isStarred).map(\.image.id))
      (source.keptPlace, source.hasKept, source.isLoading) = (page.next, page.next != nil, false)
    }
    arrange()
  }

  /// Updates the list that is shown. The selected image stays selected, in the same row on the screen.
  mutating func arrange() {
    let (id, home, row) = (current?.image.id, current?.address, selected / layout.across - top)
    timeline = FeedTimeline(filter.asksStore ? found.map(members) ?? [] : sources.flatMap(members))
    if !isTouched {
      selected = 0
    } else if let id, let index = timeline.firstIndex(where: { $0.image.id == id && $0.address == home }) {
      selected = index
      top = max(selected / layout.across - row, 0)
    }
    selected = min(selected, max(0, timeline.count - 1))
  }

  /// A feed's items, and its former items, which may be from another network.
  private func members(_ source: Source) -> [FeedTimeline.Member] {
    guard filter.has(source.address) else { return [] }
    let present = source.feed?.images
    let ids = Set(present?.map(\.id) ?? [])
    let former = FeedImages(source.kept.filter { !ids.contains($0.id) })
      .marked(isFromPrivateNetwork: source.kept.isFromPrivateNetwork)
    return [present, former.isEmpty ? nil : former].compactMap { $0 }.map { images in
      let shown =
        filter.isNew
        ? FeedImages(images.filter { source.new.contains($0.id) })
          .marked(isFromPrivateNetwork: images.isFromPrivateNetwork) : images
      let feed = Feed(images: shown, source: source.feed?.source ?? .remote)
      return FeedTimeline.Member(address: source.address, name: source.name, feed: feed)
    }
  }

  /// The results of a search, each feed with its name in the list. A feed's items may be from different networks.
  private func members(_ page: SeenPage) -> [FeedTimeline.Member] {
    struct Group: Hashable {
      let address: URL
      let isPrivate: Bool?
    }
    var (order, groups): ([Group], [Group: [SeenImage]]) = ([], [:])
    // There may be thousands of results, few of which are new, so group only these.
    let new = Dictionary(sources.map { ($0.address, $0.new) }) { first, _ in first }
    for image in page.images where !filter.isNew || new[image.address]?.contains(image.image.id) ?? false {
      let group = Group(address: image.address, isPrivate: image.isFromPrivateNetwork)
      if groups[group] == nil { order.append(group) }
      groups[group, default: []].append(image)
    }
    return order.map { group in
      let source = sources.first { $0.address == group.address }
      let images = groups[group] ?? []
      let name = source.flatMap { $0.name.isEmpty ? nil : $0.name } ?? images.first?.feedTitle
      let shown = FeedImages(images.map(\.image)).marked(isFromPrivateNetwork: group.isPrivate)
      return FeedTimeline.Member(address: group.address, name: name, feed: Feed(images: shown, source: .remote))
    }
  }

  func isStarred(_ entry: FeedTimeline.Entry) -> Bool {
    sources.contains { $0.address == entry.address && $0.stars.contains(entry.image.id) }
  }

  func isNew(_ entry: FeedTimeline.Entry) -> Bool {
    sources.contains { $0.address == entry.address && $0.new.contains(entry.image.id) }
  }

  /// Stars the selected item, or removes its star.
  mutating func toggleStar() -> [BrowseAction] {
    guard let entry = current else { return [] }
    let isStarred = !isStarred(entry)
    setStar(isStarred, entry.image.id, of: entry.address)
    message = isStarred ? "Starred; the item is kept." : "No longer starred."
    let star = BrowseAction.star(isStarred, entry.image.id, entry.address)
    guard isStarred else { return [star] }
    return [star, .keep(entry.image.url, of: entry.address, isPrivate: entry.isFromPrivateNetwork)]
  }

  mutating func setStar(_ isStarred: Bool, _ id: FeedImage.ID, of address: URL) {
    change(address) { source in
      if isStarred { source.stars.insert(id) } else { source.stars.remove(id) }
    }
  }

  /// Changes the filter.
  mutating func change(filter change: (inout Filter) -> Void) -> [BrowseAction] {
    change(&filter)
    (selected, top) = (0, 0)
    isSearching = filter.asksStore && hasHistory
    if !filter.asksStore { found = nil }
    arrange()
    return filter.asksStore ? [.find(filter)] : []
  }

  /// Selects the next feed or, after the last one, all feeds.
  mutating func showNextFeed() -> [BrowseAction] {
    let addresses = filter.folder?.feeds ?? sources.map(\.address)
    let next = filter.feed.flatMap { addresses.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    return change { $0.feed = next < addresses.count ? addresses[next] : nil }
  }

  /// The folders of the feeds; each comes after the folders that contain it.
  var folders: [Filter.Folder] {
    var (names, feeds): ([String], [String: [URL]]) = ([], [:])
    for source in sources {
      for count in source.folders.indices {
        let name = source.folders[...count].joined(separator: " / ")
        if feeds[name] == nil { names.append(name) }
        feeds[name, default: []].append(source.address)
      }
    }
    return names.sorted().map { Filter.Folder(name: $0, feeds: feeds[$0] ?? []) }
  }

  /// Selects the next folder or, after the last one, all feeds.
  mutating func showNextFolder() -> [BrowseAction] {
    let folders = folders
    if folders.isEmpty {
      message = "None of these feeds are in a folder of your list; see \"feed subscriptions move --folder\"."
      return []
    }
    let next = filter.folder.flatMap { folders.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    return change { ($0.folder, $0.feed) = (next < folders.count ? folders[next] : nil, nil) }
  }

  /// Handles a key while the user types search words.
  mutating func type(_ key: TerminalKey) -> [BrowseAction] {
    switch key {
    case .enter: isTyping = false
    case .escape:
      isTyping = false
      return change { $0.words = "" }
    case .backspace: return change { $0.words = String($0.words.dropLast()) }
    case .character(let character): return change { $0.words.append(character) }
    default: break
    }
    return []
  }

  /// A description of the filter, for the title.
  var filterWords: String? {
    guard filter.isActive || isTyping else { return nil }
    let feed = filter.feed.flatMap { feed in sources.first { $0.address == feed }?.name }
    let parts = [
      isTyping || !filter.words.isEmpty ? "/\(filter.words)\(isTyping ? "▏" : "")" : nil,
      filter.isStarred ? "starred" : nil, filter.isNew ? "new" : nil, filter.folder?.name, feed,
    ]
    return parts.compactMap { $0 }.joined(separator: " · ")
  }
}
