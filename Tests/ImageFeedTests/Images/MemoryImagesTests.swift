import Foundation
import TestSupport
import Testing

@testable import ImageFeed

@Suite(.settled) struct MemoryImagesTests {
  private func url(_ number: Int) -> URL { URL(string: "https://images.example/\(number).png")! }

  @Test func `MemoryImages keeps the last used images, within its limit of bytes`() throws {
    var memory = MemoryImages(limit: 1000)
    for number in 0..<10 { memory.insert(try makeSavedImage(count: 100), for: url(number)) }
    #expect(memory.use(url(0)) != nil)
    memory.insert(try makeSavedImage(count: 100), for: url(10))
    #expect(memory.bytes == 1000)
    #expect(memory.use(url(0)) != nil)
    #expect(memory.use(url(1)) == nil)
    #expect(memory.count == 10)
  }

  @Test func `an image of more than a tenth of the limit isn't kept in memory`() throws {
    var memory = MemoryImages(limit: 1000)
    memory.insert(try makeSavedImage(count: 101), for: url(1))
    #expect(memory.count == 0)
    // The new image replaces an outdated one.
    memory.insert(try makeSavedImage(count: 100), for: url(1))
    memory.insert(try makeSavedImage(count: 101), for: url(1))
    #expect(memory.use(url(1)) == nil)
    #expect(memory.bytes == 0)
  }

  @Test func `the count of bytes is right after any order of uses, insertions and removals`() throws {
    var random = SystemRandomNumberGenerator()
    var memory = MemoryImages(limit: 2000)
    for _ in 0..<5000 {
      let url = url(Int.random(in: 0..<40, using: &random))
      switch Int.random(in: 0..<4, using: &random) {
      case 0: memory.remove(url)
      case 1: _ = memory.use(url)
      default: memory.insert(try makeSavedImage(count: Int.random(in: 8..<220, using: &random)), for: url)
      }
      #expect(memory.bytes <= 2000)
    }
    for number in 0..<40 { memory.remove(url(number)) }
    #expect(memory.bytes == 0)
    #expect(memory.count == 0)
  }
}
