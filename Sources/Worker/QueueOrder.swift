package import JobSchema
package import Jobs

/// The queues that a worker serves, in strict order or by weight.
package struct QueueOrder: Sendable, Hashable {
    /// The queues as the setting lists them.
    package let names: [QueueName]
    /// The relative frequency of claims from each queue; `nil` for strict order.
    package let weights: [Int]?

    private static let maxQueues = 64
    private static let weightRange = 1...1000

    /// Only the queue `default`.
    package static let `default` = QueueOrder(names: [.default], weights: nil)

    private init(names: [QueueName], weights: [Int]?) {
        self.names = names
        self.weights = weights
    }

    /// The order in the format that the initializer parses.
    package var text: String {
        guard let weights else { return names.map(\.text).joined(separator: ",") }
        return zip(names, weights).map { "\($0.text):\($1)" }.joined(separator: ",")
    }

    /// Parses `urgent,default` (strict order) or `urgent:3,default:1` (by weight).
    package init(_ text: String) throws(Failure) {
        var names: [QueueName] = []
        var weights: [Int] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try QueueName(String(parts[0]))
            guard !names.contains(name) else {
                throw Failure(.invalidRequest, "the queue `\(name.text)` is given twice in `\(text)`")
            }
            names.append(name)
            guard parts.count == 2 else { continue }
            guard let weight = Int(parts[1]), Self.weightRange.contains(weight) else {
                throw Failure(
                    .invalidRequest,
                    "the weight of the queue `\(name.text)` is `\(parts[1])`: it must be a whole number from 1 to 1000")
            }
            weights.append(weight)
        }
        guard weights.isEmpty || weights.count == names.count else {
            throw Failure(
                .invalidRequest,
                "`\(text)` has weights for some queues only: give every queue a weight (urgent:3,default:1), or none"
            )
        }
        guard names.count <= Self.maxQueues else {
            throw Failure(
                .invalidRequest,
                "a worker serves at most \(Self.maxQueues) queues, and `\(text.prefix(80))…` has \(names.count)")
        }
        self.init(names: names, weights: weights.isEmpty ? nil : weights)
    }
}

/// Selects the queue from which to claim next.
struct QueueRotation {
    private let weights: [Int]?
    private var credits: [Int]

    init(_ order: QueueOrder) {
        weights = order.weights
        credits = Array(repeating: 0, count: order.names.count)
    }

    /// The queue to claim from next, among those that may have jobs, and how many; `nil` if there is none or no slot is
    /// free.
    ///
    /// By weight, the free slots are shared out as by claims of one job each (the smooth weighted round-robin of nginx),
    /// and the queue that comes first gets all of its slots at once. A queue without jobs leaves its turns to the others.
    mutating func next(among open: [Int], free: Int) -> (queue: Int, count: Int)? {
        guard let first = open.first, free > 0 else { return nil }
        guard weights != nil, open.count > 1 else { return (first, free) }
        var rehearsal = self
        let turns = (0..<free).map { _ in rehearsal.takeTurn(among: open) }
        let count = turns.count { $0 == turns[0] }
        charge(turns[0], turns: count, among: open)
        return (turns[0], count)
    }

    /// Takes back turns for which the queue had no jobs.
    mutating func giveBack(_ turns: Int, of queue: Int, among open: [Int]) {
        guard open.count > 1 else { return }
        charge(queue, turns: -turns, among: open)
    }

    private mutating func takeTurn(among open: [Int]) -> Int {
        let queue = open.max { (credit($0), $1) < (credit($1), $0) }!
        charge(queue, turns: 1, among: open)
        return queue
    }

    /// The credit with which a queue enters the next turn.
    private func credit(_ queue: Int) -> Int { credits[queue] + (weights?[queue] ?? 0) }

    /// Each turn gives every queue its weight, and costs the chosen one the sum of all weights.
    private mutating func charge(_ chosen: Int, turns: Int, among open: [Int]) {
        guard let weights else { return }
        for queue in open { credits[queue] += turns * weights[queue] }
        credits[chosen] -= turns * open.reduce(0) { $0 + weights[$1] }
    }
}
