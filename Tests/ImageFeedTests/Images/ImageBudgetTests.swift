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
    #expect(budget.unspent(for: []).allows(address))
  }

  @Test func `each image gets an equal share of what is left of its feed's budget, and of the budget for all`() {
    var budget = ImageBudget(perFeed: 100, of: 1_000).unspent(for: [address, address, address, address, otherAddress])
    #expect(budget.room(for: address) == 25)
    #expect(budget.room(for: otherAddress) == 100)
    budget.spend(10, on: address)
    #expect(budget.room(for: address) == 30)
    budget.spend(0, on: address)
    #expect(budget.room(for: address) == 45)
    budget.spend(200, on: address)
    #expect(budget.room(for: address) == 0)
    var later = ImageBudget(perFeed: 100, of: 1_000).unspent(for: [address])
    later.spend(20, on: address)
    later.expect([address, address])
    #expect(later.room(for: address) == 40)
    let narrow = ImageBudget(perFeed: 100, of: 100).unspent(for: [address] + Array(repeating: otherAddress, count: 6))
    #expect(narrow.room(for: address) == 10)
  }
}
