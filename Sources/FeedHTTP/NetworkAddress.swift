import Foundation

/// An IP address, and the kind of network that it belongs to.
struct NetworkAddress: Hashable, CustomStringConvertible {
  /// Four, or sixteen.
  private let bytes: [UInt8]

  /// - Parameters:
  ///   - address: a `sockaddr_in` or `sockaddr_in6`.
  ///   - count: its size.
  init?(_ address: UnsafeRawPointer, count: Int) {
    let family = address.loadUnaligned(as: sockaddr.self).sa_family
    if family == sa_family_t(AF_INET), count >= MemoryLayout<sockaddr_in>.size {
      let address = address.loadUnaligned(as: sockaddr_in.self).sin_addr
      bytes = withUnsafeBytes(of: address) { Array($0) }
    } else if family == sa_family_t(AF_INET6), count >= MemoryLayout<sockaddr_in6>.size {
      let address = address.loadUnaligned(as: sockaddr_in6.self).sin6_addr
      bytes = withUnsafeBytes(of: address) { Array($0) }
    } else {
      return nil
    }
  }

  /// As it is written; a zone, as in `fe80::1%eth0`, is left out.
  init?(_ text: String) {
    let text = text.prefix { $0 != "%" }
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, String(text), &four) == 1 {
      bytes = withUnsafeBytes(of: four) { Array($0) }
    } else if inet_pton(AF_INET6, String(text), &six) == 1 {
      bytes = withUnsafeBytes(of: six) { Array($0) }
    } else {
      return nil
    }
  }

  /// The addresses of a name. **Blocks** while the name is looked up.
  static func addresses(of host: String) -> [NetworkAddress] {
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, nil, &first) == 0 else { return [] }
    defer { freeaddrinfo(first) }
    return sequence(first: first) { $0?.pointee.ai_next }.compactMap { entry in
      entry.flatMap { entry in
        entry.pointee.ai_addr.flatMap { NetworkAddress($0, count: Int(entry.pointee.ai_addrlen)) }
      }
    }
  }

  var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "\(bytes)" }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// True if no public server can have it: this machine, its links and networks, and reserved addresses (RFC 6890 and
  /// the registries of special addresses that it founded). An IPv6 address that represents an IPv4 address counts as
  /// that address.
  var isPrivate: Bool {
    if let embedded { return embedded.isPrivate }
    return (bytes.count == 4 ? Self.privateRanges4 : Self.privateRanges6).contains { range in
      zip(bytes, range.prefix).enumerated().allSatisfy { index, pair in
        let bits = max(0, min(8, range.bits - 8 * index))
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
        return pair.0 & mask == pair.1 & mask
      }
    }
  }

  private typealias Range = (prefix: [UInt8], bits: Int)

  private static let privateRanges4: [Range] = [
    // "This network", and 0.0.0.0, which is this machine.
    ([0], 8),
    // Private use (RFC 1918).
    ([10], 8), ([172, 16], 12), ([192, 168], 16),
    // Shared by the customers of a carrier (RFC 6598).
    ([100, 64], 10),
    // This machine, and its link.
    ([127], 8), ([169, 254], 16),
    // Protocol assignments, examples of documents (RFC 5737), former relays of 6to4 (RFC 7526), and benchmarks.
    ([192, 0, 0], 24), ([192, 0, 2], 24), ([198, 51, 100], 24), ([203, 0, 113], 24), ([192, 88, 99], 24),
    ([198, 18], 15),
    // Groups, and what is reserved, 255.255.255.255 included.
    ([224], 4), ([240], 4),
  ]

  private static let privateRanges6: [Range] = [
    // None, and this machine.
    ([UInt8](repeating: 0, count: 16), 128), ([UInt8](repeating: 0, count: 15) + [1], 128),
    // Discarded (RFC 6666), and what a network translates to version 4 for itself (RFC 8215).
    ([0x01, 0, 0, 0, 0, 0, 0, 0], 64), ([0, 0x64, 0xFF, 0x9B, 0, 1], 48),
    // Protocol assignments, Teredo and benchmarks among them (RFC 2928, 4380, 5180); examples of documents (RFC 3849,
    // 9637); identifiers of segments (RFC 9602).
    ([0x20, 0x01, 0, 0], 23), ([0x20, 0x01, 0x0D, 0xB8], 32), ([0x3F, 0xFF, 0], 20), ([0x5F, 0], 16),
    // Unique local (RFC 4193), link-local, the former site-local, and groups.
    ([0xFC], 7), ([0xFE, 0x80], 10), ([0xFE, 0xC0], 10), ([0xFF], 8),
  ]

  /// The IPv4 address that an IPv6 address represents: mapped (`::ffff:0:0/96`), compatible (`::/96`), translated
  /// (`64:ff9b::/96`, RFC 6052; `::ffff:0:0:0/96`, RFC 2765), or tunnelled (`2002::/16`, RFC 3056; `::5efe:0:0` or
  /// `::200:5efe:0:0` after any prefix, RFC 5214).
  private var embedded: NetworkAddress? {
    guard bytes.count == 16 else { return nil }
    let zeros = [UInt8](repeating: 0, count: 10)
    let isLast =
      bytes.starts(with: zeros + [0xFF, 0xFF])
      || bytes.starts(with: zeros + [0, 0]) && bytes[12...].reduce(0, { $0 << 8 | Int($1) }) > 1
      || bytes.starts(with: [0, 0x64, 0xFF, 0x9B] + zeros.prefix(8))
      || bytes.starts(with: zeros.prefix(8) + [0xFF, 0xFF, 0, 0])
    let isISATAP = [0, 2].contains(bytes[8]) && bytes[9...11].elementsEqual([0, 0x5E, 0xFE])
    if isLast || isISATAP { return NetworkAddress(bytes: Array(bytes[12...])) }
    return bytes.starts(with: [0x20, 0x02]) ? NetworkAddress(bytes: Array(bytes[2..<6])) : nil
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }
}
