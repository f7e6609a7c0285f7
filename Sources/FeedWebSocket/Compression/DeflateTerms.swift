/// The parameters of compression that both sides have agreed on (RFC 7692, 7.1).
package struct DeflateTerms: Hashable, Sendable {
  /// True if the server compresses each message separately.
  package var serverForgets = false
  /// True if the client compresses each message separately.
  package var clientForgets = false
  /// The server's window size, as a power of two: 8 to 15.
  package var serverWindowBits = 15
  /// The client's window size.
  package var clientWindowBits = 15

  package init() {}

  /// True if messages from the given side may refer to earlier ones.
  func keepsWindow(sentByServer isServer: Bool) -> Bool { isServer ? !serverForgets : !clientForgets }
  func windowBits(sentByServer isServer: Bool) -> Int { isServer ? serverWindowBits : clientWindowBits }
}

extension WebSocketCompression {
  static let name = "permessage-deflate"

  /// Negotiates as the server: accepts the first supported offer.
  ///
  /// - Parameter offers: the values of `Sec-WebSocket-Extensions`.
  /// - Returns: the terms and the value of the response's field; `nil` if no offer is acceptable.
  /// - Throws: if a field isn't a list of extensions.
  func answer(_ offers: [String]) throws(FieldSyntaxError) -> (terms: DeflateTerms, field: String)? {
    for offer in try ExtensionList.parse(offers) where offer.name == Self.name {
      if let answer = answer(offer) { return answer }
    }
    return nil
  }

  private func answer(_ offer: ExtensionList.Element) -> (terms: DeflateTerms, field: String)? {
    var terms = DeflateTerms()
    var (limitsServer, takesClientLimit) = (false, false)
    var seen: Set<String> = []
    terms.serverForgets = !keepsContext
    terms.clientForgets = !keepsContext
    terms.serverWindowBits = windowBits
    for (name, value) in offer.parameters {
      guard seen.insert(name).inserted else { return nil }
      switch (name, value) {
      case ("server_no_context_takeover", nil): terms.serverForgets = true
      case ("client_no_context_takeover", nil): terms.clientForgets = true
      case ("server_max_window_bits", let value?):
        guard let bits = Self.bits(value) else { return nil }
        terms.serverWindowBits = min(bits, windowBits)
        limitsServer = true
      case ("client_max_window_bits", let value):
        guard let bits = value.map(Self.bits) ?? 15 else { return nil }
        terms.clientWindowBits = min(bits, windowBits)
        takesClientLimit = true
      default: return nil
      }
    }
    var field = Self.name
    if terms.serverForgets { field += "; server_no_context_takeover" }
    if terms.clientForgets { field += "; client_no_context_takeover" }
    if limitsServer || terms.serverWindowBits < 15 { field += "; server_max_window_bits=\(terms.serverWindowBits)" }
    if takesClientLimit, terms.clientWindowBits < 15 { field += "; client_max_window_bits=\(terms.clientWindowBits)" }
    return (terms, field)
  }

  /// The client's offer.
  var offer: String {
    var offer = Self.name
    if !keepsContext { offer += "; server_no_context_takeover; client_no_context_takeover" }
    if windowBits < 15 { offer += "; server_max_window_bits=\(windowBits)" }
    return offer + "; client_max_window_bits" + (windowBits < 15 ? "=\(windowBits)" : "")
  }

  /// Negotiates as the client: reads the parameters that the server chose from the offer.
  ///
  /// - Parameter chosen: the values of the response's `Sec-WebSocket-Extensions`.
  /// - Returns: the terms; `nil` when the server does not compress.
  /// - Throws: if the server has chosen something that was not offered.
  func terms(_ chosen: [String]) throws(FieldSyntaxError) -> DeflateTerms? {
    let elements = try ExtensionList.parse(chosen)
    guard let element = elements.first else { return nil }
    guard elements.count == 1, element.name == Self.name else { throw FieldSyntaxError() }
    var terms = DeflateTerms()
    terms.clientForgets = !keepsContext
    var seen: Set<String> = []
    for (name, value) in element.parameters {
      guard seen.insert(name).inserted else { throw FieldSyntaxError() }
      switch (name, value) {
      case ("server_no_context_takeover", nil): terms.serverForgets = true
      case ("client_no_context_takeover", nil): terms.clientForgets = true
      case ("server_max_window_bits", let value?):
        guard let bits = Self.bits(value), bits <= windowBits else { throw FieldSyntaxError() }
        terms.serverWindowBits = bits
      case ("client_max_window_bits", let value?):
        guard let bits = Self.bits(value) else { throw FieldSyntaxError() }
        terms.clientWindowBits = min(bits, windowBits)
      default: throw FieldSyntaxError()
      }
    }
    // The server must grant what the client requested.
    guard keepsContext || terms.serverForgets, windowBits == 15 || seen.contains("server_max_window_bits") else {
      throw FieldSyntaxError()
    }
    return terms
  }

  /// A number from 8 to 15, without leading zeros.
  private static func bits(_ text: String) -> Int? {
    switch text {
    case "8", "9", "10", "11", "12", "13", "14", "15": Int(text)
    default: nil
    }
  }
}
