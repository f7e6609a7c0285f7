import TestSupport
import Testing

/// The built `feed` under everything that a machine can do to it. One test at a time: each has processes enough of its own.
@Suite(.serialized, .settled) struct FaultTests {}
