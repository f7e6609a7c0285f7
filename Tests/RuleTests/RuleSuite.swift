import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@Suite(.settled) struct RuleSuite {
  static let rows: [RuleRow] = [
    transformingRows, filteringRows, reducingRows, combiningRows, mergingRows, queueingRows, errorRows, timingRows,
    sharingRows, effectRows, concurrencyRows, parallelRows, publisherRows,
    chunkRows, fileRows, streamRows, processRows,
  ].flatMap { $0 }

  @Test(arguments: rows) func `each operator keeps the rules`(_ row: RuleRow) {
    let summary = row.verify()
    #expect(summary.scripts > 0)
  }

  @Test func `every row states the expected values`() {
    let silent = Self.rows.filter { !$0.hasExpectation && !$0.traits.contains(.isEndless) }
    #expect(silent.map(\.name) == [], "state it, with expects:")
  }

  @Test(arguments: ["Operators", "Publishers", "Subjects", "Concurrency", "Parallel"])
  func `every file has a row`(_ folder: String) throws {
    let names = try PublicFunctions.files(in: folder)
    try #require(!names.isEmpty)
    let listed = Set(Self.rows.map(\.file)).union(Self.filesWithoutRow.keys)
    #expect(Set(names).subtracting(listed).sorted() == [], "add a row for each, or say in filesWithoutRow why not")
    #expect(listed.filter { $0.hasPrefix(folder) }.subtracting(names).sorted() == [], "these rows name no file")
  }

  @Test func `every file of IO with a publisher has a row`() throws {
    let files = try PublicFunctions.files(in: "IO").filter {
      let text = try String(contentsOf: PublicFunctions.sources.appending(path: $0 + ".swift"), encoding: .utf8)
      return text.contains(/: Publisher[ ,]/) || text.contains("-> AnyPublisher<") || text.contains("-> Publishers.")
    }
    try #require(files.count > 15)
    let listed = Set(Self.rows.map(\.file))
    #expect(Set(files).subtracting(listed).sorted() == [], "add a row for each")
    #expect(listed.filter { $0.hasPrefix("IO/") }.subtracting(files).sorted() == [], "these rows name no such file")
  }

  @Test func `every public function has a row`() throws {
    let functions = try PublicFunctions(in: [
      "Operators", "Publishers", "Concurrency", "Parallel", "Subscribers", "Subjects",
    ]).names
    try #require(functions.count > 150)
    let names = Set(functions.map(\.name))
    let covered = Set(
      Self.rows.filter { !$0.file.hasPrefix("IO/") && !$0.file.hasPrefix("Foundation/") }.flatMap {
        $0.name.matches(of: /\w+\([\w:]*\)/).map { String($0.output) }
      })
    let listed = covered.union(Self.functionsWithoutRow.keys)
    #expect(names.subtracting(listed).sorted() == [], "add a row for each, or say in functionsWithoutRow why not")
    #expect(listed.subtracting(names).sorted() == [], "these rows name no function")
  }

  /// The files that need no row, with the reasons.
  static let filesWithoutRow = [
    "Parallel/LoopTaskExecutor": "runs tasks",
    "Parallel/ParallelCrew": "is what both operators send work with",
    "Parallel/ParallelMapStage": "is parallelMap's",
    "Parallel/ParallelStage": "is parallel's",
    "Parallel/RailEnds": "is parallel's",
    "Parallel/RailPipeline": "is parallel's",
    "Publishers/Sequence+Operators": "computes another sequence, whose publisher has a row",
    "Publishers/ConstantPublisher": "computes another constant, whose publisher has a row",
    "Concurrency/AsyncOrigin": "part of values, which has a row",
    "Concurrency/AsyncPublisher": "its row is AsyncElements': a publisher of the values",
    "Concurrency/AsyncRelay": "part of values, which has a row",
    "Concurrency/Create+Sender": "sends to Create, which has a row: WaitingTests",
    "Concurrency/Future+Async": "a Future, which has a row, fulfilled from elsewhere: WaitingTests",
    "Concurrency/SenderInbox": "built into senders: SenderTests",
    "Concurrency/SenderInbox+Home": "built into senders: SenderTests",
    "Concurrency/SenderTarget": "built into senders: SenderTests",
    "Concurrency/StreamSender": "sends to subjects, which have rows: SenderTests",
    "Concurrency/SharedValue": "a value, not a stream: ServerGroupTests",
    "Concurrency/MapAsyncStage": "part of mapAsync, which has a row",
    "Concurrency/StreamHome": "says where a stream lives; ValuesTests",
    "Subjects/ObservableObject": "a protocol; PublishedTests",
    "Subjects/Published": "a CurrentValueSubject behind a property wrapper; PublishedTests",
    "Subjects/SubjectSubscriber": "subscribes a subject to upstream: the rows of the subjects",
    "Subjects/AnySubjectEntry": "built into subjects: their rows",
    "Subjects/AnySubscriberList": "built into subjects: their rows",
    "Subjects/Conduit": "built into subjects: their rows",
    "Subjects/GatePath": "built into subjects: Tests/Programs/subjects-joined",
    "Subjects/QueueTicks": "a Timer on a queue: BroughtTests, and Tests/Programs/timer-on-queue",
    "Subjects/SubjectEntry": "built into subjects: their rows",
    "Subjects/SubscriberList": "built into subjects: their rows",
    "Operators/OtherNames": "names that can't be used, for the compiler's messages: SnippetTests",
    "Operators/Timing/InDurations": "calls the form with a stride: InDurationsTests",
    "Operators/Timing/OnAnyLoopScheduler": "calls the form with a stride: OnAnyLoopSchedulerTests",
    "Operators/Combining/CombineLatestUnfailing": "calls combineLatest: CombineLatestUnfailingTests",
    "Operators/Combining/MergeUnfailing": "calls merge: MergeUnfailingTests",
    "Operators/Combining/ZipUnfailing": "calls zip: ZipUnfailingTests",
    "Operators/Reducing/PredicateReduction": "what first, last, contains and allSatisfy share: their rows",
  ]

  /// The functions that need no row, with the reasons.
  static let functionsWithoutRow = [
    "parallelMap(on:width:ordering:_:)": "mapAsync with another executor, which has a row",
    "tryParallelMap(on:width:ordering:_:)": "tryMapAsync with another executor, which has a row",
    "breakpointOnError()": "breakpoint(receiveSubscription:receiveOutput:receiveCompletion:) with one closure given",
    "values(on:)": "values, with the loop named: ValuesTests",
    "sink(receiveCompletion:receiveValue:file:line:)": "a subscriber",
    "subscribe(_:file:line:)": "a subscriber",
    "sink(receiveValue:file:line:)": "a subscriber",
    "sink(on:receiveCompletion:receiveValue:file:line:)": "a subscriber",
    "assign(to:)": "a subscriber",
    "assign(to:on:file:line:)": "a subscriber",
  ]
}
