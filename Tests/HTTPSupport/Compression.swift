import Foundation

/// Compresses the bodies of origins, with the libraries that libcurl uses.
enum Compression {
  static func gzip(_ data: Data) -> Data { deflated(data, windowBits: 15 + 16) }
  static func zlib(_ data: Data) -> Data { deflated(data, windowBits: 15) }
  static func bareDeflate(_ data: Data) -> Data { deflated(data, windowBits: -15) }

  static func brotli(_ data: Data) -> Data {
    typealias Compress =
      @convention(c) (
        Int32, Int32, Int32, Int, UnsafeRawPointer?, UnsafeMutablePointer<Int>, UnsafeMutableRawPointer?
      ) -> Int32
    let compress = function("BrotliEncoderCompress", Compress.self, of: "libbrotlienc.so.1")
    return into(data.count + 1024) { output, count in
      var written = count
      let isDone = data.withUnsafeBytes { compress(5, 22, 0, $0.count, $0.baseAddress, &written, output) }
      return isDone == 1 ? written : nil
    }
  }

  static func zstd(_ data: Data) -> Data {
    typealias Compress = @convention(c) (UnsafeMutableRawPointer?, Int, UnsafeRawPointer?, Int, Int32) -> Int
    let compress = function("ZSTD_compress", Compress.self, of: "libzstd.so.1")
    return into(data.count + 1024) { output, count in
      data.withUnsafeBytes { compress(output, count, $0.baseAddress, $0.count, 3) }
    }
  }

  /// zlib's `z_stream`, of which only the first fields matter here.
  private struct Stream {
    var nextIn: UnsafeRawPointer?
    var availableIn: UInt32
    var totalIn = 0
    var nextOut: UnsafeMutableRawPointer?
    var availableOut: UInt32
    var totalOut = 0
    var rest: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
  }

  private static func deflated(_ data: Data, windowBits: Int32) -> Data {
    typealias Start =
      @convention(c) (
        UnsafeMutableRawPointer, Int32, Int32, Int32, Int32, Int32, UnsafePointer<CChar>, Int32
      ) -> Int32
    typealias Deflate = @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32
    typealias End = @convention(c) (UnsafeMutableRawPointer) -> Int32
    let start = function("deflateInit2_", Start.self, of: "libz.so.1")
    let deflate = function("deflate", Deflate.self, of: "libz.so.1")
    let end = function("deflateEnd", End.self, of: "libz.so.1")
    return into(data.count + 1024) { output, count in
      data.withUnsafeBytes { input in
        var stream = Stream(
          nextIn: input.baseAddress, availableIn: UInt32(input.count), nextOut: output, availableOut: UInt32(count))
        guard start(&stream, 9, 8, windowBits, 8, 0, "1.2.0", Int32(MemoryLayout<Stream>.size)) == 0 else { return nil }
        let result = deflate(&stream, 4)  // Z_FINISH
        _ = end(&stream)
        return result == 1 ? stream.totalOut : nil
      }
    }
  }

  private static func into(_ count: Int, _ write: (UnsafeMutableRawPointer, Int) -> Int?) -> Data {
    var data = Data(count: count)
    let written = data.withUnsafeMutableBytes { write($0.baseAddress!, $0.count) }
    return data.prefix(written!)
  }

  private static func function<Function>(_ name: String, _: Function.Type, of library: String) -> Function {
    // Safe, because the library's header declares this type.
    unsafeBitCast(dlsym(dlopen(library, RTLD_NOW), name)!, to: Function.self)
  }
}
