/// The version of respool, as `--version`, workers' records and metrics tell it.
package let respoolVersion = "0.1.0"
