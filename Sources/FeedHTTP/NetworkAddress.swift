import Foundation

/// An IP address, and the kind of network that it belongs to.
struct NetworkAddress: Hashable, CustomStringConvertible {
  /// The first half of an IPv6 address; zero for IPv4.
  private let high: UInt64
  /// The second half of an IPv6 address, or the 32 bits of an IPv4 address.
  private let low: UInt64
  private let isVersion4: Bool

  private init(version4 bits: UInt32) { (high, low, isVersion4) = (0, UInt64(bits), true) }

  private init(_ four: in_addr) { self.init(version4: UInt32(bigEndian: four.s_addr)) }

  private init(_ six: in6_addr) {
    (high, low) = withUnsafeBytes(of: six) { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
    isVersion4 = false
  }

  /// - Parameters:
  ///   - address: a `sockaddr_in` or `sockaddr_in6`.
  ///   - count: its size.
  init?(_ address: UnsafeRawPointer, count: Int) {
    let family = address.loadUnaligned(as: sockaddr.self).sa_family
    if family == sa_family_t(AF_INET), count >= MemoryLayout<sockaddr_in>.size {
      self.init(address.loadUnaligned(as: sockaddr_in.self).sin_addr)
    } else if family == sa_family_t(AF_INET6), count >= MemoryLayout<sockaddr_in6>.size {
      self.init(address.loadUnaligned(as: sockaddr_in6.self).sin6_addr)
    } else {
      return nil
    }
  }

  /// Parses an address; a zone, as in `fe80::1%eth0`, is ignored.
  init?(_ text: String) { self.init(cString: text) }

  /// Parses an address in a C string.
  init?(cString text: UnsafePointer<CChar>) {
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, text, &four) == 1 {
      self.init(four)
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      self.init(six)
    } else if let zone = strchr(text, Int32(UInt8(ascii: "%"))) {
      let address = UnsafeRawBufferPointer(start: text, count: UnsafePointer(zone) - text)
      self.init(String(decoding: address, as: UTF8.self))
    } else {
      return nil
    }
  }

  /// The addresses of a host name. **Blocks** during the lookup.
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
    let written =
      if isVersion4 {
        withUnsafeBytes(of: UInt32(low).bigEndian) { inet_ntop(AF_INET, $0.baseAddress, &text, socklen_t(text.count)) }
      } else {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
          inet_ntop(AF_INET6, $0.baseAddress, &text, socklen_t(text.count))
        }
      }
    guard written != nil else { return "" }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// True if the address is `network`, or one of the network's addresses, as in `10.0.0.0/8`.
  func isIn(_ network: String) -> Bool {
    let parts = network.split(separator: "/", maxSplits: 1)
    guard let first = parts.first, let base = NetworkAddress(String(first)), base.isVersion4 == isVersion4 else {
      return false
    }
    guard parts.count == 2 else { return self == base }
    guard let bits = Int(parts[1]), (0...(isVersion4 ? 32 : 128)).contains(bits) else { return false }
    // Shifting by 64 or more yields 0, as it should.
    if isVersion4 { return (low ^ base.low) >> (32 - bits) == 0 }
    return (high ^ base.high) >> (64 - min(bits, 64)) == 0 && (low ^ base.low) >> (64 - max(bits - 64, 0)) == 0
  }

  /// True if no public server can have the address: it belongs to this machine, the machine's links or networks, or is
  /// reserved (RFC 6890 and the registries that it set up). An IPv6 address that represents an IPv4 address is treated
  /// as that IPv4 address.
  ///
  /// Compares numbers instead of bytes, because this runs for every response.
  var isPrivate: Bool {
    if let embedded { return embedded.isPrivate }
    if isVersion4 {
      return Self.privateRanges4.contains { (UInt32(truncatingIfNeeded: low) ^ $0.prefix) >> (32 - $0.bits) == 0 }
    }
    return Self.privateRanges6.contains { (high ^ $0.prefix) >> (64 - $0.bits) == 0 } || high == 0 && low <= 1
  }

  private static let privateRanges4: [(prefix: UInt32, bits: UInt32)] = [
    // "This network", and 0.0.0.0, which is this machine.
    (0, 8),
    // Private use (RFC 1918).
    (0x0A00_0000, 8), (0xAC10_0000, 12), (0xC0A8_0000, 16),
    // Carrier-grade NAT (RFC 6598).
    (0x6440_0000, 10),
    // Loopback, and link-local.
    (0x7F00_0000, 8), (0xA9FE_0000, 16),
    // Protocol assignments, documentation (RFC 5737), former 6to4 relays (RFC 7526), and benchmarking.
    (0xC000_0000, 24), (0xC000_0200, 24), (0xC633_6400, 24), (0xCB00_7100, 24), (0xC058_6300, 24),
    (0xC612_0000, 15),
    // Multicast, and reserved addresses, including 255.255.255.255.
    (0xE000_0000, 4), (0xF000_0000, 4),
  ]

  /// The prefixes of the first halves of addresses; `::` and `::1` are checked separately.
  private static let privateRanges6: [(prefix: UInt64, bits: UInt64)] = [
    // Discard-only (RFC 6666), and local translation to IPv4 (RFC 8215).
    (0x0100_0000_0000_0000, 64), (0x0064_FF9B_0001_0000, 48),
    // Protocol assignments, including Teredo and benchmarking (RFC 2928, 4380, 5180); documentation (RFC 3849, 9637);
    // segment identifiers (RFC 9602).
    (0x2001_0000_0000_0000, 23), (0x2001_0DB8_0000_0000, 32), (0x3FFF_0000_0000_0000, 20), (0x5F00_0000_0000_0000, 16),
    // Unique local (RFC 4193), link-local, the former site-local, and multicast.
    (0xFC00_0000_0000_0000, 7), (0xFE80_0000_0000_0000, 10), (0xFEC0_0000_0000_0000, 10), (0xFF00_0000_0000_0000, 8),
  ]

  /// The IPv4 address that an IPv6 address represents: mapped (`::ffff:0:0/96`), compatible (`::/96`), translated
  /// (`64:ff9b::/96`, RFC 6052; `::ffff:0:0:0/96`, RFC 2765), or tunneled (`2002::/16`, RFC 3056; `::5efe:0:0` or
  /// `::200:5efe:0:0` after any prefix, RFC 5214).
  private var embedded: NetworkAddress? {
    guard !isVersion4 else { return nil }
    let third = low >> 32
    let isLast =
      high == 0 && (third == 0xFFFF || third == 0xFFFF_0000 || third == 0 && low > 1)
      || high == 0x0064_FF9B_0000_0000 && third == 0
    let isISATAP = third == 0x0000_5EFE || third == 0x0200_5EFE
    if isLast || isISATAP { return NetworkAddress(version4: UInt32(truncatingIfNeeded: low)) }
    return high >> 48 == 0x2002 ? NetworkAddress(version4: UInt32(truncatingIfNeeded: high >> 16)) : nil
  }
}
