import CZlib

struct NotGzip: Error {}

/// The bytes, decompressed by zlib itself.
func gunzip(_ bytes: [UInt8], isPart: Bool = false) throws -> [UInt8] {
  var stream = z_stream()
  guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
    throw NotGzip()
  }
  defer { inflateEnd(&stream) }
  var input = bytes
  var output = [UInt8](repeating: 0, count: 1 << 20)
  let code = input.withUnsafeMutableBufferPointer { input in
    output.withUnsafeMutableBufferPointer { output in
      stream.next_in = input.baseAddress
      stream.avail_in = uInt(input.count)
      stream.next_out = output.baseAddress
      stream.avail_out = uInt(output.count)
      return inflate(&stream, Z_SYNC_FLUSH)
    }
  }
  guard code == (isPart ? Z_OK : Z_STREAM_END) else { throw NotGzip() }
  return Array(output.prefix(Int(stream.total_out)))
}

/// The data of chunks, after a header if there is one.
func unchunked(_ bytes: [UInt8]) -> [UInt8] {
  var rest = bytes[...]
  if rest.starts(with: Array("HTTP".utf8)) { rest = rest[rest.firstRange(of: Array("\r\n\r\n".utf8))!.upperBound...] }
  var data: [UInt8] = []
  while let line = rest.firstRange(of: [13, 10]) {
    let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16)!
    data += rest[line.upperBound...].prefix(size)
    rest = rest[line.upperBound...].dropFirst(size + 2)
  }
  return data
}
