import FeedHTTP
import FeedStream
import Foundation
import ImageFeed

/// One visit to a page: claims the host, sends the request, and records the result.
extension PageImageFinder {
  func visit(_ index: Int) {
    let (own, turn) = (pages[index].host, pages[index].turn)
    // If a redirect's target is still closed, the page's own host gets no request.
    claim(turn == own ? [own] : [turn, own], for: index)
  }

  /// Claims hosts, one after another, and then sends the request.
  private func claim(_ hosts: ArraySlice<String>, for index: Int) {
    guard let host = hosts.first else { return request(index) }
    let claim = visits.claim(host, lease: options.timeout + .seconds(5), gap: options.gap) { [weak self] in
      self?.claimed(index, $0, before: hosts.dropFirst())
    }
    pages[index].claims.append(claim)
  }

  private func claimed(_ index: Int, _ result: Result<HostHealth?, FeedStoreError>, before others: ArraySlice<String>) {
    switch result {
    case .success(nil): claim(others, for: index)
    case .success(let host?):
      cancelClaims(of: index)
      let opens = host.reopens(at: cache.now()).timeIntervalSince1970
      // A page in the queue of a redirect's target doesn't hold up the others there.
      let isOwnTurn = pages[index].turn == host.name
      putOff(index, until: opens, hostOpens: isOwnTurn ? opens : -.infinity)
    case .failure(let error):
      cancelClaims(of: index)
      options.report(error)
      ended(index, hostOpens: -.infinity)
    }
  }

  private func request(_ index: Int) {
    let page = pages[index]
    let hosts = VisitedHosts(
      visits, gap: options.gap, timeout: options.timeout, holding: page.claims, purpose: "for an item's page")
    pages[index].claims = []
    let client = hosts.client(client, on: scheduler)
    pages[index].hosts = (hosts, client)
    var request = HTTPRequest(
      page.page.url.withoutUser, timeout: options.timeout, maxBodyBytes: .max,
      headers: [.init(name: "Accept", value: "text/html, application/xhtml+xml, */*;q=0.5")])
    // The feed chose this URL, which may lead to a private network only if the feed came from one.
    request.origin = page.feed
    request.originIsPrivate = feeds[page.feed]?.isPrivate
    var answer: PageImageResponse?
    var isOver = false
    let visit = client.open(request).asPageImage(reader).sink { [weak self] _ in
      isOver = true
      self?.end(index, with: answer)
    } receiveValue: {
      answer = $0
    }
    // The request may have completed before `sink` returned.
    if !isOver { pages[index].visit = visit }
  }

  private func end(_ index: Int, with answer: PageImageResponse?) {
    guard pages.indices.contains(index) else { return }
    let (page, client) = (pages[index], pages[index].hosts?.client)
    pages[index].visit = nil
    let opens = endVisits(of: index)[page.turn]?.opens.timeIntervalSince1970 ?? -.infinity
    // The page redirects to a host that is paused or rests. It waits in the queue of that host, so that the pages that
    // lead there are requested one after another when that host opens.
    if answer == nil, let closed = client?.closed, let host = client?.lastHost {
      let until = closed.until.timeIntervalSince1970
      pages[index].turn = host
      queue.move(index, to: host)
      queue.close(host, until: until)
      return putOff(index, until: until, hostOpens: opens)
    }
    note(answer, of: page)
    ended(index, hostOpens: opens)
  }

  /// Requests a page again when a host opens.
  private func putOff(_ index: Int, until due: Double, hostOpens opens: Double) {
    queue.ended(index, due: due, hostOpens: opens)
    pump()
  }

  /// Frees the hosts of a page that isn't requested.
  func cancelClaims(of index: Int) {
    for claim in pages[index].claims { claim.freeUnused() }
    pages[index].claims = []
  }

  /// Frees the hosts of a page's request.
  @discardableResult func endVisits(of index: Int) -> [String: HostHealth] {
    guard let hosts = pages[index].hosts.take() else { return [:] }
    return hosts.visited.end(hosts.client.end())
  }

  private func ended(_ index: Int, hostOpens opens: Double) {
    let address = pages[index].feed
    queue.ended(index, due: nil, hostOpens: opens)
    waiting[address]?.remove(pages[index].page.id)
    if waiting[address]?.isEmpty != false { fill(address) }
    pump()
  }

  /// Records the image of a page, so that the page isn't requested again.
  private func note(_ answer: PageImageResponse?, of page: Page) {
    let image: String?
    let isTrusted: Bool?
    switch answer {
    case .image(let address, let isPrivate):
      // If the link leads directly to the image, the feed itself chose the image.
      image = address
      isTrusted = address == page.page.url.absoluteString ? true : isPrivate
    case .nothing:
      image = nil
      isTrusted = nil
    case .later, nil: return
    }
    let (book, id, address) = (book, page.page.id, page.feed)
    if image != nil, let feed = feeds[address], feed.patience == nil,
      PageImageBook.isUsable(isTrusted, inPrivate: feed.isPrivate)
    {
      feeds[address]?.patience = scheduler.once(after: .init(options.patience)) { [weak self] in self?.fill(address) }
    }
    perform { () throws(FeedStoreError) in try book.note(image, of: id, in: address, isTrusted: isTrusted) }
  }

  /// Delivers a feed with its found images, if there are new ones.
  private func fill(_ address: URL) {
    guard let patience = feeds[address]?.patience.take() else { return }
    patience.cancel()
    let (book, now) = (book, cache.now)
    cache.worker.perform {
      () throws(FeedStoreError) in
      try book.fill(address, now: now())
    } completion: { [weak self] (result: Result<FeedImages?, FeedStoreError>) in
      switch result {
      case .success(let images): if let images { self?.show(images, of: address) }
      case .failure(let error): self?.options.report(error)
      }
    }
  }

  private func perform(_ work: @escaping @Sendable () throws(FeedStoreError) -> Void) {
    cache.worker.perform(work) { [report = options.report] in
      if case .failure(let error) = $0 { report(error) }
    }
  }
}
