/// The version of respool, as reported by `--version`, workers' records and metrics.
package let respoolVersion = "0.2.0-dev"
