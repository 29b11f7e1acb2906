import Glibc

/// A linear factor in decibels.
func decibels(_ factor: Double) -> Double { 20 * log10(factor) }

/// Decibels as a linear factor.
func factor(decibels: Double) -> Double { pow(10, decibels / 20) }
