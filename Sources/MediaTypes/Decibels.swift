import Glibc

/// A linear factor in decibels.
package func decibels(_ factor: Double) -> Double { 20 * log10(factor) }

/// Decibels as a linear factor.
package func factor(decibels: Double) -> Double { pow(10, decibels / 20) }

/// A number with a fixed count of decimal places; what has no place in 64 bits becomes the largest that has.
package func decimal(_ number: Double, places: Int) -> String {
    let scale = (0..<places).reduce(Int64(1)) { product, _ in product * 10 }
    let scaled = Int64(exactly: (number.magnitude * Double(scale)).rounded()) ?? .max
    let fraction = String(scale + scaled % scale).dropFirst()
    return (number < 0 && scaled > 0 ? "-" : "") + String(scaled / scale) + "." + fraction
}
