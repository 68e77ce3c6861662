// Package why has the reasons why parts of a plan stay with the engine, as EXPLAIN shows them. Those that one place alone
// gives stand there.
package why
