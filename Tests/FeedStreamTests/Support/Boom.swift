/// An error for tests.
struct Boom: Error, Equatable {}
