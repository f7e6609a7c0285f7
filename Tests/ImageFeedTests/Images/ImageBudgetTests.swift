import Foundation
import TestSupport
import Testing

@testable import ImageFeed

@Suite(.settled) struct ImageBudgetTests {
  @Test func `an image budget limits each feed and all feeds together, and unspent resets it`() {
    var budget = ImageBudget(perFeed: 100, of: 400)
    #expect(budget.total == 280)
    budget.spend(99, on: address)
    #expect(budget.allows(address))
    budget.spend(1, on: address)
    #expect(!budget.allows(address) && budget.allows(otherAddress))
    budget.spend(180, on: URL(string: "https://example.com/third")!)
    #expect(!budget.allows(otherAddress))
    #expect(budget.unspent.allows(address))
  }
}
