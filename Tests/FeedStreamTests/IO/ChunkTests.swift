import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct ChunkTests {
  @Test func `a slice shares the chunk's memory, and its indices start at zero`() {
    let chunk: Chunk = "hello, world"
    let world = chunk.dropFirst(7)
    #expect(world == "world")
    #expect(world.startIndex == 0)
    #expect(world[0] == UInt8(ascii: "w"))
    let places = [chunk.dropFirst(7), world].map { $0.withUnsafeBytes { $0.baseAddress } }
    #expect(places[0] == places[1])
  }

  @Test func `chunks with equal bytes are equal`() {
    #expect(Chunk([1, 2, 3]) == [1, 2, 3])
    #expect(Chunk([1, 2, 3]) != [1, 2])
    #expect(Set([Chunk("a"), Chunk("ab").prefix(1)]).count == 1)
  }

  @Test func `chunks are joined into one`() {
    #expect(Chunk(joining: ["he", "", "llo"]) == "hello")
    #expect(Chunk(joining: []) == Chunk())
  }

  @Test func `compacted() releases the memory that a small slice was cut from`() {
    let large = Chunk(repeatElement(7, count: 10_000))
    let small = large.prefix(3)
    let compacted = small.compacted()
    #expect(compacted == small)
    #expect(compacted.withUnsafeBytes { $0.baseAddress } != small.withUnsafeBytes { $0.baseAddress })
    let most = large.dropFirst(1)
    #expect(most.compacted().withUnsafeBytes { $0.baseAddress } == most.withUnsafeBytes { $0.baseAddress })
  }

  @Test func `a chunk's bytes can be read in place as a span`() {
    let chunk: Chunk = "abc"
    #expect(chunk.bytes.byteCount == 3)
    #expect(chunk.bytes.unsafeLoad(fromByteOffset: 1, as: UInt8.self) == UInt8(ascii: "b"))
  }

  @Test func `invalid UTF-8 is replaced in a chunk's text, and counted in its description`() {
    #expect(Chunk([0x61, 0xFF]).text == "a\u{FFFD}")
    #expect("\(Chunk("hi"))" == "\"hi\"")
    #expect("\(Chunk([0xFF, 0xFE]))" == "2 bytes")
  }
}
