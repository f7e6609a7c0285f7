extension ResponseReader {
  /// Reads a part of the body.
  ///
  /// - Parameter announced: the length that the header announces, checked when the first bytes arrive; negative if it
  /// announces none.
  /// - Returns: true to continue.
  mutating func body(_ bytes: UnsafeRawBufferPointer, announced: () -> Int) -> Bool {
    guard failure == nil else { return false }
    if isRedirect {
      received += bytes.count
      // Reading a short body allows the connection to be reused; a long one isn't worth waiting for.
      return received <= 64 << 10
    }
    if received == 0, !beginBody(announced: announced()) { return false }
    received += bytes.count
    if let stream { return stream.append(bytes) || refuse(.tooLarge) }
    return decoder == nil ? append(bytes) : decode(bytes)
  }

  private mutating func beginBody(announced: Int) -> Bool {
    // Status 206: a part of a compressed body arrives as it is.
    guard coding.isEmpty || status == 206 else {
      decoder = ContentCoding.decoder(for: coding)
      // One byte more than allowed, to distinguish a body that just fits from one that doesn't.
      body.limit = maxBodyBytes == .max ? .max : maxBodyBytes + 1
      if let stream, let decoder {
        stream.decode(with: decoder, coding: coding)
        self.decoder = nil
        return true
      }
      return decoder != nil
        || fail(.encoding, "it is compressed with \"\(coding.prefix(40))\", which the request did not offer")
    }
    body.limit = maxBodyBytes
    guard announced <= maxBodyBytes else { return fail(.tooLarge(limit: maxBodyBytes), "") }
    // An announced length is trusted up to a megabyte.
    guard announced > 0, stream == nil, let refusal = body.makeRoom(for: min(announced, 1 << 20)) else { return true }
    return refuse(refusal)
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let refusal = body.append(bytes) else { return true }
    return refuse(refusal)
  }

  private mutating func decode(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var input = bytes
    while true {
      if body.room.count < 1024 {
        let wanted = max(4096, 4 * input.count)
        if let refusal = body.makeRoom(for: max(1, min(wanted, body.limit - body.count))) { return refuse(refusal) }
      }
      let room = body.room
      guard let (consumed, produced) = decoder!.decode(input, into: room) else {
        return fail(.encoding, "the \(coding) data is damaged")
      }
      body.didWrite(produced)
      guard body.count <= maxBodyBytes else { return refuse(.tooLarge) }
      input = UnsafeRawBufferPointer(rebasing: input[consumed...])
      if input.isEmpty, produced < room.count { return true }
      guard consumed > 0 || produced > 0 else { return fail(.encoding, "the \(coding) data is damaged") }
    }
  }

  private mutating func refuse(_ refusal: BodyBuffer.Refusal) -> Bool {
    switch refusal {
    case .tooLarge: fail(.tooLarge(limit: maxBodyBytes), "")
    case .noMemory: fail(.resources, "out of memory")
    }
  }
}
