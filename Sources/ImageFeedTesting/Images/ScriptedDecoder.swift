import FeedStream
import FeedStreamTesting
import ImageFeed

/// The reaction of a scripted `image-decoder` to an image.
package enum ScriptedDecoding {
  case answer(ImageDecodingResponse, after: Duration = .zero)
  /// Writes these bytes, which needn't be a valid reply.
  case raw(Chunk)
  /// Ends with this exit status, without a reply.
  case end(ExitStatus)
  case hang
}

extension VirtualPrograms {
  /// Makes a program with this name decode images, as `image-decoder` does.
  package func decodeImages(
    as name: String = "image-decoder", on time: VirtualTimeScheduler,
    _ react: @escaping (ImageDecodingRequest) -> ScriptedDecoding
  ) {
    self[name] = { [unowned time] in $0.decodeImages(on: time, react) }
  }
}

extension VirtualProgram {
  fileprivate func decodeImages(
    on time: VirtualTimeScheduler, _ react: @escaping (ImageDecodingRequest) -> ScriptedDecoding
  ) {
    input.framed(by: ImageDecodingRequests())
      .sink { [weak self] _ in
        self?.exit()
      } receiveValue: { [weak self] request in
        switch react(request) {
        case .answer(let answer, let delay): self?.write([answer.head, answer.body], after: delay, on: time)
        case .raw(let bytes): self?.write([bytes], after: .zero, on: time)
        case .end(let status): self?.exit(status)
        case .hang: break
        }
      }
      .store(in: &work)
  }

  private func write(_ chunks: [Chunk], after delay: Duration, on time: VirtualTimeScheduler) {
    // Delayed as one piece, so that the responses keep their order.
    Just(Chunk(joining: chunks)).delay(for: delay, scheduler: time).write(to: output)
      .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
      .store(in: &work)
  }
}
