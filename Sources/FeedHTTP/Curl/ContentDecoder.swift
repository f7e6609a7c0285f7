internal import CCurl
internal import CZlib
import Foundation

/// Undoes one content coding (RFC 9110, section 8.4) as the bytes arrive.
///
/// libcurl could do this itself, but libcurl 7.88 accepts a truncated compressed stream as complete, and allows a zstd
/// stream a window of 128 MiB. The decoders here are the ones that libcurl would use: zlib, and brotli and zstd if
/// libcurl has them.
protocol ContentDecoder: AnyObject {
  /// True when the data decoded so far is a complete stream.
  var isComplete: Bool { get }

  /// Decodes some of `input` into `output`.
  ///
  /// - Returns: the numbers of bytes consumed and produced; `nil` if the data is damaged.
  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> (consumed: Int, produced: Int)?
}

enum ContentCoding {
  /// The value of `Accept-Encoding`.
  static let offer: String = {
    var offer = ["gzip", "deflate"]
    if Brotli.library != nil { offer.append("br") }
    if Zstandard.library != nil { offer.append("zstd") }
    return offer.joined(separator: ", ")
  }()

  /// A decoder for the coding that a `Content-Encoding` field names, or `nil` when there is none.
  static func decoder(for name: String) -> (any ContentDecoder)? {
    switch name {
    case "gzip", "x-gzip": ZLib(.gzip)
    case "deflate": ZLib(.deflate)
    case "br": Brotli.library.flatMap(Brotli.init)
    case "zstd": Zstandard.library.flatMap(Zstandard.init)
    default: nil
    }
  }
}

// MARK: - gzip and deflate

private final class ZLib: ContentDecoder {
  enum Format { case gzip, deflate }

  private let format: Format
  // zlib keeps the stream's address: allocated, never moved, freed in `deinit`.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var isStarted = false
  private(set) var isComplete = false
  /// The number of consecutive empty members.
  private var emptyMembers = 0
  private var isMemberEmpty = true
  private static let mostEmptyMembers = 100

  init(_ format: Format) {
    self.format = format
    stream.initialize(to: z_stream())
  }

  deinit {
    if isStarted { inflateEnd(stream) }
    stream.deallocate()
  }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> (consumed: Int, produced: Int)? {
    if isComplete, let first = input.first {
      // A gzip file may have several members (RFC 1952, section 2.2); anything else after the end is ignored.
      guard format == .gzip, first == 0x1F else { return (input.count, 0) }
      // An endless series of empty members would keep a core busy, and never reach the limit on a body.
      emptyMembers = isMemberEmpty ? emptyMembers + 1 : 0
      guard emptyMembers < Self.mostEmptyMembers, inflateReset(stream) == Z_OK else { return nil }
      (isComplete, isMemberEmpty) = (false, true)
    }
    if !isStarted, let first = input.first, !start(first) { return nil }
    guard isStarted, !isComplete else { return (0, 0) }
    let room = min(output.count, Int(UInt32.max))
    let count = min(input.count, Int(UInt32.max))
    czlib_set_buffers(stream, input.baseAddress, uInt(count), output.baseAddress, uInt(room))
    switch inflate(stream, Z_NO_FLUSH) {
    case Z_OK, Z_BUF_ERROR: break  // The latter means that zlib needs more input.
    case Z_STREAM_END: isComplete = true
    default: return nil
    }
    let produced = room - Int(stream.pointee.avail_out)
    if produced > 0 { isMemberEmpty = false }
    return (count - Int(stream.pointee.avail_in), produced)
  }

  /// "deflate" means the zlib format, but some servers send raw deflate data. The first byte distinguishes them.
  private func start(_ first: UInt8) -> Bool {
    let isBare = format == .deflate && !(first & 0x0F == 8 && first >> 4 <= 7)
    let window: Int32 = isBare ? -15 : format == .gzip ? 15 + 16 : 15
    isStarted = czlib_begin_inflate(stream, window) == Z_OK
    return isStarted
  }
}

// MARK: - brotli

private final class Brotli: ContentDecoder {
  // @unchecked: function pointers that never change.
  struct Library: @unchecked Sendable {
    let create: ccurl_brotli_create
    let decode: ccurl_brotli_decode
    let destroy: ccurl_brotli_destroy
  }

  static let library: Library? = {
    guard let create = LoadedLibraries.function("BrotliDecoderCreateInstance", ccurl_brotli_create.self),
      let decode = LoadedLibraries.function("BrotliDecoderDecompressStream", ccurl_brotli_decode.self),
      let destroy = LoadedLibraries.function("BrotliDecoderDestroyInstance", ccurl_brotli_destroy.self)
    else { return nil }
    return Library(create: create, decode: decode, destroy: destroy)
  }()

  private let library: Library
  private let state: UnsafeMutableRawPointer
  private(set) var isComplete = false

  init?(_ library: Library) {
    guard let state = library.create(nil, nil, nil) else { return nil }
    self.library = library
    self.state = state
  }

  deinit { library.destroy(state) }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> (consumed: Int, produced: Int)? {
    if isComplete { return (input.count, 0) }
    var availableIn = input.count
    var nextIn = input.assumingMemoryBound(to: UInt8.self).baseAddress
    var availableOut = output.count
    var nextOut = output.assumingMemoryBound(to: UInt8.self).baseAddress
    switch library.decode(state, &availableIn, &nextIn, &availableOut, &nextOut, nil) {
    case 1: isComplete = true
    case 2, 3: break  // Needs more input, or more room for output.
    default: return nil
    }
    return (input.count - availableIn, output.count - availableOut)
  }
}

// MARK: - zstd

private final class Zstandard: ContentDecoder {
  // @unchecked: function pointers that never change.
  struct Library: @unchecked Sendable {
    let create: ccurl_zstd_create
    let set: ccurl_zstd_set
    let decode: ccurl_zstd_decode
    let isError: ccurl_zstd_is_error
    let free: ccurl_zstd_free
  }

  static let library: Library? = {
    guard let create = LoadedLibraries.function("ZSTD_createDStream", ccurl_zstd_create.self),
      let set = LoadedLibraries.function("ZSTD_DCtx_setParameter", ccurl_zstd_set.self),
      let decode = LoadedLibraries.function("ZSTD_decompressStream", ccurl_zstd_decode.self),
      let isError = LoadedLibraries.function("ZSTD_isError", ccurl_zstd_is_error.self),
      let free = LoadedLibraries.function("ZSTD_freeDStream", ccurl_zstd_free.self)
    else { return nil }
    return Library(create: create, set: set, decode: decode, isError: isError, free: free)
  }()

  private let library: Library
  private let state: UnsafeMutableRawPointer
  private(set) var isComplete = false

  init?(_ library: Library) {
    guard let state = library.create() else { return nil }
    self.library = library
    self.state = state
    // ZSTD_d_windowLogMax: a window of at most 8 MiB, as RFC 9659 requires for HTTP.
    _ = library.set(state, 100, 23)
  }

  deinit { _ = library.free(state) }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> (consumed: Int, produced: Int)? {
    if isComplete, input.isEmpty { return (0, 0) }
    var source = ccurl_zstd_in(start: input.baseAddress, size: input.count, pos: 0)
    var target = ccurl_zstd_out(start: output.baseAddress, size: output.count, pos: 0)
    let result = library.decode(state, &target, &source)
    guard library.isError(result) == 0 else { return nil }
    isComplete = result == 0
    return (source.pos, target.pos)
  }
}
