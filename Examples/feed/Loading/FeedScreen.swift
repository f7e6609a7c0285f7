import Foundation
import ImageFeed
import PlainText

/// Feeds and failures in the format that the user chose.
struct FeedScreen: Sendable {
  private let format: OutputFormat
  private let style: Style
  private let errorStyle: Style
  private let names: FeedNames
  private let isSingle: Bool
  private let isRepeated: Bool
  private let width: Int?
  private let maxAge: Duration?
  private let marks: RecordedMarks

  /// - Parameters:
  ///   - marks: the new images, unless the caller provides them, and the starred ones.
  ///   - isRepeated: true if several results may follow each other, each with its time.
  init(
    _ options: LoadOptions, of selection: FeedSelection, on session: Session, _ marks: RecordedMarks,
    isRepeated: Bool = false
  ) {
    format = options.format
    style = session.outputStyle
    errorStyle = session.console.style
    names = selection.shownNames
    isSingle = selection.isSingle
    self.isRepeated = isRepeated
    width = options.width
    maxAge = options.common.maxAge.duration
    self.marks = marks
  }

  /// One feed, for standard output. Returns UTF-8 bytes, because a line of JSON may be long.
  ///
  /// - Parameter new: the positions of the images to mark as new. By default, in JSON, those that were never shown.
  func bytes(of feed: Feed, at address: URL, new: [Int]? = nil) -> [UInt8] {
    var marks = marks.marks(of: feed.images, at: address)
    marks.new = new ?? (isJSON ? marks.new : [])
    switch format {
    case .text:
      let text = FeedText(address: address, name: isSingle ? nil : member(feed, address).name, style: style)
        .text(of: feed, new: marks.new, starred: marks.starred)
      return Array(entry(text).utf8)
    case .json:
      return FeedJSON.line(feed, at: address, member(feed, address).name, marks: marks)
    }
  }

  /// True when feeds and failures are lines of JSON.
  var isJSON: Bool { format == .json }

  /// One feed, or the reason why there is none, for standard output.
  func bytes(of result: Result<Feed, NothingToShow>, at address: URL) -> [UInt8] {
    switch result {
    case .success(let feed): bytes(of: feed, at: address)
    case .failure(let failure): bytes(of: failure)
    }
  }

  /// The reason why there is no feed, for standard output: a line of JSON. Empty in the text format, where the reason
  /// goes to standard error.
  func bytes(of failure: NothingToShow) -> [UInt8] { isJSON ? FeedJSON.line(failure) : [] }

  /// One feed, for standard output, with or without its images.
  func list(of feed: Feed, at address: URL) -> ImageOutput.List {
    let text = FeedText(address: address, name: isSingle ? nil : member(feed, address).name, style: style)
    return ImageOutput.List(
      headline: { fitted(text.headline(of: feed)) },
      entries: feed.images.prefix(ImageOptions.most).enumerated().map {
        ImageBlocks.Entry(
          number: $0 + 1, image: $1, feed: address, isPrivate: feed.images.isFromPrivateNetwork,
          origin: $1.published?.dayAndTime)
      },
      count: feed.images.count, rest: { fitted(text.entries(of: feed.images, after: $0)) },
      plain: { bytes(of: feed, at: address) })
  }

  /// Several feeds as one list, for standard output, with or without their images.
  func list(of reports: [FeedReport]) -> ImageOutput.List {
    let timeline = FeedTimeline(reports.compactMap { report in report.feed.map { member($0, report.address) } })
    let text = TimelineText(style: style)
    return ImageOutput.List(
      headline: { fitted(text.headline(of: timeline)) },
      entries: timeline.prefix(ImageOptions.most).enumerated().map {
        ImageBlocks.Entry(
          number: $0 + 1, image: $1.image, feed: $1.address, isPrivate: $1.isFromPrivateNetwork,
          origin: TimelineText.origin(of: $1))
      },
      count: timeline.count, rest: { fitted(text.entries(of: timeline, after: $0)) },
      plain: { self.bytes(of: reports) })
  }

  /// The new images of one feed, for standard output.
  ///
  /// - Parameter positions: the positions of the new images in the feed.
  func bytes(of feed: Feed, at address: URL, onlyNew positions: [Int]) -> [UInt8] {
    guard !positions.isEmpty else { return [] }
    let member = member(feed, address)
    switch format {
    case .text:
      let headline =
        "\(style.bold("\(positions.count) new")) from \(member.name.printable) (\(member.address.shown))\n\n"
      let timeline = FeedTimeline(member, at: positions)
      return Array(entry(headline + TimelineText(style: style).entries(of: timeline)).utf8)
    case .json:
      return FeedJSON.line(
        feed, at: address, member.name, marks: .init(new: positions, starred: marks.marks(of: [], at: address).starred),
        only: positions)
    }
  }

  /// Several feeds, for standard output. As text, they are one list, which is empty if there are no feeds; as JSON,
  /// there is a line for each.
  func bytes(of reports: [FeedReport]) -> [UInt8] {
    switch format {
    case .text:
      let members = reports.compactMap { report in report.feed.map { member($0, report.address) } }
      return members.isEmpty ? [] : Array(fitted(TimelineText(style: style).text(of: FeedTimeline(members))).utf8)
    case .json:
      return reports.flatMap { report in
        switch report.result {
        case .success(let feed): bytes(of: feed, at: report.address)
        case .failure(let error): bytes(of: NothingToShow(address: report.address, error: error, maxAge: maxAge))
        }
      }
    }
  }

  func member(_ feed: Feed, _ address: URL) -> FeedTimeline.Member {
    FeedTimeline.Member(address: address, name: names[address], feed: feed)
  }

  /// The text for standard error.
  func text(of failure: NothingToShow) -> String {
    var text = failure.text(errorStyle)
    if isSingle {
      if isRepeated { text = "[\(Date().timeOfDay)] \(text)\n" }
    } else {
      text =
        "\(errorStyle.bad("feed: no feed to show")) for \(failure.address.shown): \("\(failure.error)".printable)\n"
    }
    guard let columns = Style.columns(of: STDERR_FILENO) else { return text }
    return text.wrapped(to: max(columns, 20))
  }

  private func entry(_ text: String) -> String {
    fitted(isRepeated ? "[\(Date().timeOfDay)] \(text)\n" : text)
  }

  /// The text wrapped to the chosen width, or to the terminal's width.
  private func fitted(_ text: String) -> String {
    guard let columns = width ?? Style.columns(of: STDOUT_FILENO) else { return text }
    return text.wrapped(to: max(columns, 20))
  }
}
