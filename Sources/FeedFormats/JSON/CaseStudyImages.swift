extension CaseStudyFeed {
  /// The images of a document, backed by the memory of its strings: each element is created when it is read.
  ///
  /// An array of images would retain three objects per image, which takes as long as parsing the images.
  public struct Images: RandomAccessCollection, Hashable, Sendable {
    struct Record: Sendable {
      var identity: Identity
      /// The position of a string; `absent` if there is none.
      var description: Place
      var location: Place
      var address: Place
    }

    struct Place: Sendable {
      var start: UInt32
      var length: UInt32

      static var absent: Place { Place(start: .max, length: 0) }
    }

    private let texts: TextBuffer
    /// The URLs that Foundation encoded. The bit ``mark`` is set in the length of a URL that is in this buffer.
    private let encoded: TextBuffer
    private let records: [Record]

    static var mark: UInt32 { 1 << 31 }

    init(texts: TextBuffer, encoded: [UInt8], records: [Record]) {
      self.texts = texts
      self.encoded = encoded.withBytes { TextBuffer($0) }
      self.records = records
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { records.count }

    /// The number of bytes of text.
    package var textBytes: Int {
      records.reduce(0) { sum, record in
        sum + Int(record.description.length) + Int(record.location.length) + Int(record.address.length & ~Self.mark)
      }
    }

    public subscript(index: Int) -> Image {
      let record = records[index]
      let isPlain = record.address.length & Self.mark == 0
      return Image(
        identity: record.identity, description: text(record.description), location: text(record.location),
        address: SharedText(
          buffer: isPlain ? texts : encoded, start: record.address.start, length: record.address.length & ~Self.mark),
        isPlain: isPlain)
    }

    private func text(_ place: Place) -> SharedText? {
      place.start == .max ? nil : SharedText(buffer: texts, start: place.start, length: place.length)
    }

    public static func == (one: Images, other: Images) -> Bool { one.elementsEqual(other) }

    public func hash(into hasher: inout Hasher) { for image in self { hasher.combine(image) } }
  }
}

extension CaseStudyFeed.Images {
  /// Creates a collection of these images, in memory of its own.
  init(_ images: [CaseStudyFeed.Image]) {
    var (texts, encoded): ([UInt8], [UInt8]) = ([], [])
    func place(_ text: SharedText, in memory: inout [UInt8]) -> Place {
      defer { text.withUTF8 { memory.append($0) } }
      return Place(start: UInt32(memory.count), length: text.length)
    }
    let records = images.map { image in
      var address = image.isPlain ? place(image.address, in: &texts) : place(image.address, in: &encoded)
      if !image.isPlain { address.length |= Self.mark }
      return Record(
        identity: image.identity, description: image.description.map { place($0, in: &texts) } ?? .absent,
        location: image.location.map { place($0, in: &texts) } ?? .absent, address: address)
    }
    self.init(texts: texts.withBytes { TextBuffer($0) }, encoded: encoded, records: records)
  }
}
