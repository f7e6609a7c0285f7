import TestSupport
import Testing

/// The built `feed` under every fault of a machine. The tests run one at a time, because each starts many processes.
@Suite(.serialized, .settled) struct FaultTests {}
