// Package columnar converts plans of the SQL engine to plans of the vectorised engine. What it accepts, by list, means exactly
// the same in both; everything else has a reason why not, and then the whole subtree stays with the engine.
package columnar
