// Package placement is the arithmetic of vpod-scheduler: which adapters may take a vreplica of a vpod, and which of
// them is best. Values go in, decisions with their numbers come out. It imports the standard library only, logs
// nothing and reads no clock.
//
// A Pool holds the adapters of one pool and how the vreplicas of every vpod are spread over them. A Tally is what one
// vreplica sees of it: counts, minima, eligible adapters. Verdicts (Fit, Limit, Skew, Domains) answer the hard rules
// for one adapter, a Ranking orders the adapters that passed. Its reverse picks the Victims when a vpod shrinks. The
// Surplus is what has to go from an adapter that holds more than it may.
//
// Size is how many adapters the pool should have. A Drain is where the vreplicas of adapters go that it does without, and
// an Improvement a move of one vreplica that the rules would rather have elsewhere.
//
// All quantities are vreplicas unless said otherwise.
package placement
