import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct RecordTests {
  @Test func `Record delivers what was recorded, as requested`() {
    let record = Record<Int, MarbleFailure> { recording in
      recording.receive(1)
      recording.receive(2)
      recording.receive(completion: .failure(MarbleFailure()))
    }
    let recorder = record.record(demand: .max(1))
    recorder.expect("1")
    recorder.request(.max(1))
    recorder.expect("(12#)")
  }
}
