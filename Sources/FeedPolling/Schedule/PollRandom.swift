package import FeedStream

/// The numbers that spread due times.
package typealias PollRandom = SplitMix64
