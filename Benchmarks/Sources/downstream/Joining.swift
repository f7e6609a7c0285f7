import FeedStream
import Harness

/// Adds operators of several publishers, and operators that share or keep their values.
func addJoining(to rows: inout Rows) {
  addCombining(to: &rows)
  addFlattening(to: &rows)
  addSharing(to: &rows)
  addSubscribing(to: &rows)
}

private func addCombining(to rows: inout Rows) {
  let nothing = Empty<Int, Never>()
  rows.add("Merge", "merge") { $0.merge(with: nothing).end($1) }
  rows.add("Merge", "merge, as its argument") { nothing.merge(with: $0).end($1) }
  rows.add("Merge", "MergeMany") { Publishers.MergeMany([$0]).end($1) }
  rows.add("MergeByArity", "merge of three") { $0.merge(with: nothing, nothing).end($1) }
  rows.add("Concatenate", "append") { $0.append(nothing).end($1) }
  rows.add("Concatenate", "append, as its argument") { nothing.append($0).end($1) }
  rows.add("Concatenate", "prepend") { $0.prepend(1).end($1) }
  rows.add("Race", "race") { $0.race(with: Subject()).end($1) }
  rows.add("Race", "race, of a collection") { [$0].race().end($1) }
  rows.add("SwitchIfEmpty", "switchIfEmpty") { $0.switchIfEmpty(nothing).end($1) }
  rows.add("SwitchIfEmpty", "switchIfEmpty, as its argument") { nothing.switchIfEmpty($0).end($1) }
  rows.add("WithLatestFrom", "withLatestFrom") { $0.withLatestFrom(Just(1)).map(\.0).end($1) }
  rows.add("WithLatestFrom", "withLatestFrom, as its argument") { source, add in
    Subject().withLatestFrom(source).map(\.1).end(add)
  }
  rows.add("CombineLatest", "combineLatest") { $0.combineLatest(Just(1)).map(\.0).end($1) }
  rows.add("CombineLatest", "combineLatest, as its argument") { Just(1).combineLatest($0).map(\.1).end($1) }
  rows.add("CombineLatest", "combineLatest of three") { $0.combineLatest(Just(1), Just(2)).map(\.0).end($1) }
  rows.add("CombineLatestMany", "combineLatest, of a collection") { [$0].combineLatest().map(\.count).end($1) }
  rows.add("CombineLatestAll", "combineLatest, the function") { source, add in
    combineLatest(source, Just(1), Just(2)).map { first, _, _ in first }.end(add)
  }
  rows.add("CombineLatestAll", "combineLatest of a pack, erased first") { source, add in
    combineLatest(source.eraseToAnyPublisher(), Just(1), Just(2), Just(3), Just(4)).map { first, _, _, _, _ in first }
      .end(add)
  }
  rows.add("Zip", "zip") { $0.zip(partner).map(\.0).end($1) }
  rows.add("Zip", "zip, as its argument") { Subject().zip($0).map(\.1).end($1) }
  rows.add("Zip", "zip of three") { $0.zip(partner, partner).map(\.0).end($1) }
  rows.add("ZipMany", "zip, of a collection") { [$0].zip().map(\.count).end($1) }
  rows.add("ZipAll", "zip, the function") { source, add in
    zip(source, partner, partner).map { first, _, _ in first }.end(add)
  }
  rows.add("ZipAll", "zip of a pack, erased first") { source, add in
    zip(source.eraseToAnyPublisher(), partner, partner, partner, partner).map { first, _, _, _, _ in first }.end(add)
  }
}

private func addFlattening(to rows: inout Rows) {
  rows.add("FlatMap", "flatMap") { $0.flatMap { Just($0) }.end($1) }
  rows.add("FlatMap", "flatMap, as its publisher") { source, add in Just(1).flatMap { _ in source }.end(add) }
  rows.add("ConcatMap", "concatMap") { $0.concatMap { Just($0) }.end($1) }
  rows.add("FlatMapFirst", "flatMapFirst") { $0.flatMapFirst { Just($0) }.end($1) }
  rows.add("SwitchToLatest", "flatMapLatest") { $0.flatMapLatest { Just($0) }.end($1) }
  rows.add("SwitchToLatest", "switchToLatest, as its publisher") { source, add in
    Just(1).map { _ in source }.switchToLatest().end(add)
  }
  rows.add("Expand", "expand") { $0.expand { _ in Empty<Int, Never>() }.end($1) }
  rows.add("GroupBy", "groupBy, of two keys") { $0.groupBy { $0 & 1 }.flatMap { $0 }.end($1) }
}

private func addSharing(to rows: inout Rows) {
  rows.add("Share", "share") { $0.share().end($1) }
  rows.add("Multicast", "share(replay:)") { $0.share(replay: 1).end($1) }
  rows.add("Multicast", "multicast { }, autoconnect") { $0.multicast { Subject() }.autoconnect().end($1) }
  rows.add("ShareResetting", "share(resetOnError:)") { $0.share(resetOnError: true).end($1) }
  rows.add("Autoconnect", "makeConnectable, autoconnect") { $0.makeConnectable().autoconnect().end($1) }
  rows.add("Buffer", "buffer") { source, add in
    source.buffer(size: 16, prefetch: .byRequest, whenFull: .dropOldest).end(add)
  }
  rows.add("Buffer", "buffer, that keeps full") { source, add in
    source.buffer(size: 16, prefetch: .keepFull, whenFull: .dropOldest).end(add)
  }
  rows.add("OnBackpressure", "onBackpressureDrop") { $0.onBackpressureDrop().end($1) }
  rows.add("OnBackpressure", "onBackpressureLatest") { $0.onBackpressureLatest().end($1) }
  rows.add("CollectOn", "buffer(on:)") { $0.buffer(on: Subject()).map(\.count).end($1) }
  rows.add("Sample", "sample(on:)") { $0.sample(on: Subject()).end($1) }
  rows.add("Window", "window(10)") { $0.window(10).flatMap { $0 }.end($1) }
  rows.add("Window", "window(on:)") { $0.window(on: Subject()).flatMap { $0 }.end($1) }
}

private final class Model {
  let add: (Int) -> Void
  var number = 0 { didSet { add(number) } }
  @Published var published = 0
  init(_ add: @escaping (Int) -> Void) { self.add = add }
}

private func addSubscribing(to rows: inout Rows) {
  rows.add("Sink", "sink") { $0.sink(receiveValue: $1) }
  rows.add("SinkOnOwner", "sink(on:)") { source, add in
    let model = Model(add)
    let subscription = source.sink(on: model) { $0.add($1) }
    return withExtendedLifetime(model) { subscription }
  }
  rows.add("Assign", "assign(to:on:)") { $0.assign(to: \.number, on: Model($1)) }
  rows.add("Published", "assign(to: &$published)") { source, add in
    let model = Model(add)
    source.assign(to: &model.$published)
    return AnyCancellable { _ = model }
  }
  rows.add("SubjectSubscriber", "subscribe(_ subject)") { source, add in
    let subject = Subject()
    let received = subject.sink(receiveValue: add)
    let subscription = source.subscribe(subject)
    return AnyCancellable { _ = (received, subscription) }
  }
  rows.add("AnySubscriber", "subscribe(AnySubscriber)") { source, add in
    source.subscribe(
      AnySubscriber<Int, Never>(
        receiveSubscription: { $0.request(.unlimited) },
        receiveValue: {
          add($0)
          return .none
        }))
    return AnyCancellable {}
  }
}
