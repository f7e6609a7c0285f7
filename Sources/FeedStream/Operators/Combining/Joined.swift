extension Publishers {
  /// Which values of two publishers belong together: ``ByPlace`` or ``ByNewest``.
  public protocol Joining {
    /// Whether a newer value takes an older one's place; otherwise every value waits for its partner.
    static var keepsNewest: Bool { get }
  }

  /// ``Zip`` and ``CombineLatest``.
  @frozen public struct Joined<Way: Joining, A: Publisher, B: Publisher>: Publisher
  where A.Failure == B.Failure {
    public typealias Output = (A.Output, B.Output)
    public typealias Failure = A.Failure

    public let a: A
    public let b: B

    @inlinable public init(_ a: A, _ b: B) {
      self.a = a
      self.b = b
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if Way.keepsNewest {
        PairStage(ErasedSubscriber(subscriber), CombineLatestRule<A.Output, B.Output>()).start(a, b)
      } else {
        PairStage(ErasedSubscriber(subscriber), ZipRule<A.Output, B.Output>()).start(a, b)
      }
    }
  }

  /// ``Zip3`` and ``CombineLatest3``: the arity is in the types only.
  @frozen public struct Joined3<Way: Joining, A: Publisher, B: Publisher, C: Publisher>: Publisher
  where A.Failure == B.Failure, B.Failure == C.Failure {
    public typealias Output = (A.Output, B.Output, C.Output)
    public typealias Failure = A.Failure

    public let a: A
    public let b: B
    public let c: C

    @inlinable public init(_ a: A, _ b: B, _ c: C) {
      self.a = a
      self.b = b
      self.c = c
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if Way.keepsNewest {
        // Not a pair of a pair: the inner one would hold its newest back for want of demand.
        let stage = LaneStage<Output, Failure>(.latest, ErasedSubscriber(subscriber))
        let lanes = (
          stage.newLane(of: A.Output.self), stage.newLane(of: B.Output.self), stage.newLane(of: C.Output.self)
        )
        stage.start(
          [{ a.receive(subscriber: lanes.0) }, { b.receive(subscriber: lanes.1) }, { c.receive(subscriber: lanes.2) }],
          assemble: { (lanes.0.take(), lanes.1.take(), lanes.2.take()) })
      } else {
        Joined<Way, Joined<Way, A, B>, C>(Joined(a, b), c)
          .map { ($0.0, $0.1, $1) }.receive(subscriber: subscriber)
      }
    }
  }

  /// ``Zip4`` and ``CombineLatest4``: the arity is in the types only.
  @frozen public struct Joined4<Way: Joining, A: Publisher, B: Publisher, C: Publisher, D: Publisher>: Publisher
  where A.Failure == B.Failure, B.Failure == C.Failure, C.Failure == D.Failure {
    public typealias Output = (A.Output, B.Output, C.Output, D.Output)
    public typealias Failure = A.Failure

    public let a: A
    public let b: B
    public let c: C
    public let d: D

    @inlinable public init(_ a: A, _ b: B, _ c: C, _ d: D) {
      self.a = a
      self.b = b
      self.c = c
      self.d = d
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if Way.keepsNewest {
        let stage = LaneStage<Output, Failure>(.latest, ErasedSubscriber(subscriber))
        let lanes = (
          stage.newLane(of: A.Output.self), stage.newLane(of: B.Output.self), stage.newLane(of: C.Output.self),
          stage.newLane(of: D.Output.self)
        )
        stage.start(
          [
            { a.receive(subscriber: lanes.0) }, { b.receive(subscriber: lanes.1) }, { c.receive(subscriber: lanes.2) },
            { d.receive(subscriber: lanes.3) },
          ],
          assemble: { (lanes.0.take(), lanes.1.take(), lanes.2.take(), lanes.3.take()) })
      } else {
        Joined<Way, Joined3<Way, A, B, C>, D>(Joined3(a, b, c), d)
          .map { ($0.0, $0.1, $0.2, $1) }.receive(subscriber: subscriber)
      }
    }
  }
}

extension Publishers.Joined: Equatable where A: Equatable, B: Equatable {}
extension Publishers.Joined3: Equatable where A: Equatable, B: Equatable, C: Equatable {}
extension Publishers.Joined4: Equatable where A: Equatable, B: Equatable, C: Equatable, D: Equatable {}
