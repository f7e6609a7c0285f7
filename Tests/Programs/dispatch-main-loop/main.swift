// The advice of the messages for a program that ends with dispatchMain(): the main event loop, and a sender.
// Expects: 100 values
import Dispatch
import FeedStream
import Foundation

let loop = EventLoop.main
let subject = PassthroughSubject<Int, Never>()
let sender = subject.sender(on: loop)
let shared = subject.receive(on: DispatchQueue.global()).share()
let subscription = shared.collect(100).receive(on: DispatchQueue.main).sink {
  print("\($0.count) values")
  exit(0)
}
DispatchQueue.global().async { for number in 0..<100 { sender.send(number) } }
dispatchMain()
