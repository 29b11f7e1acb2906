import Glibc

/// Converts a linear factor to decibels.
package func decibels(_ factor: Double) -> Double { 20 * log10(factor) }

/// Converts decibels to a linear factor.
package func factor(decibels: Double) -> Double { pow(10, decibels / 20) }

/// Formats a number with a fixed number of decimal places, saturated at 64 bits.
package func decimal(_ number: Double, places: Int) -> String {
    let scale = (0..<places).reduce(Int64(1)) { product, _ in product * 10 }
    let scaled = Int64(exactly: (number.magnitude * Double(scale)).rounded()) ?? .max
    let fraction = String(scale + scaled % scale).dropFirst()
    return (number < 0 && scaled > 0 ? "-" : "") + String(scaled / scale) + "." + fraction
}
