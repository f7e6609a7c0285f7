import Foundation
import TestSupport
import Testing

@testable import FeedHTTP

/// Addresses that are private, and addresses that are public.
@Suite(.settled) struct NetworkAddressTests {
  @Test(arguments: [
    // This machine.
    "0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.254", "::", "::1",
    // Private networks.
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255",
    "fc00::1", "fdff::1",
    // Carrier-grade NAT, link-local, protocol assignments, benchmarking, multicast, and reserved addresses.
    "100.64.0.1", "100.127.255.255", "169.254.169.254", "192.0.0.1", "198.18.0.1", "198.19.255.255", "224.0.0.1",
    "239.1.2.3", "240.0.0.1", "255.255.255.255", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "ff02::1",
    // The same addresses, embedded in IPv6.
    "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::",
    "2002:c0a8:101::1", "64:ff9b:1::1.1.1.1", "64:ff9b:1:ffff::1", "::ffff:0:127.0.0.1", "100::1",
    "2001:470:1::5efe:7f00:1", "2606:4700::200:5efe:192.168.0.1",
    // Documentation, 6to4 relays, Teredo, benchmarking, and segment identifiers.
    "192.0.2.1", "192.88.99.1", "198.51.100.255", "203.0.113.0", "2001:db8::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:2::1", "3fff::1", "3fff:fff:ffff::1", "5f00::1",
  ])
  func `private network addresses are recognized`(text: String) throws {
    #expect(try #require(NetworkAddress(text)).isPrivate)
  }

  @Test(arguments: [
    "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
    "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.255.255", "192.169.0.0",
    "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1",
    "2002:101:101::", "64:ff9b:2::1", "::ffff:0:1.1.1.1", "100:0:0:1::1", "fbff::1", "fe00::1", "192.0.3.0",
    "192.88.98.255", "192.88.100.0", "198.51.99.255", "198.51.101.0",
    "203.0.112.255", "203.0.114.0", "2001:200::1", "2001:db7::1", "2001:db9::1", "3ffe:ffff::1", "3fff:1000::1",
    "5eff::1", "5f01::1", "2606:4700::5efe:1.1.1.1", "2606:4700::100:5efe:127.0.0.1",
  ])
  func `public addresses aren't private`(text: String) throws {
    #expect(try !#require(NetworkAddress(text)).isPrivate)
  }

  @Test(arguments: [
    ("http://[::1]:8080/", "[::1]:8080"), ("http://[::1]/", "[::1]"), ("http://127.0.0.1:80/", "127.0.0.1:80"),
    ("https://example.com/", "example.com"),
  ])
  func `an error message separates the port from an IPv6 address`(url: String, text: String) {
    #expect(URL(string: url)?.hostAndPort == text)
  }

  @Test(arguments: ["", "localhost", "1.2.3", "1.2.3.4.5", "::g", "http://127.0.0.1"])
  func `an invalid address is rejected`(text: String) {
    #expect(NetworkAddress(text) == nil)
  }

  @Test(arguments: ["127.0.0.1", "::1", "2606:4700::1111"])
  func `a parsed address is written unchanged, and read from a lookup's result`(text: String) {
    #expect(NetworkAddress(text)?.description == text)
    #expect(NetworkAddress.addresses(of: text).contains(NetworkAddress(text)!))
  }
}
